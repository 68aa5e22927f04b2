import type { VariableCategory } from './model.ts';

const templateName = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const environmentName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Names that would change an object's prototype when variables become properties of an object. */
const unusableNames = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Names that an environment may not set, compared without regard to case, each with the reason. They would control the executor or the
 * loader of the tool's process, not the tool's work. Credentials are allowed, also those of registries (TF_TOKEN_…).
 */
const reservedNames: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^COORDINATOR_/, 'the service sets the variables that begin with COORDINATOR_ for each run'],
  [
    /^(PATH|HOME|SHELL|USER|LOGNAME|PWD|OLDPWD|TMPDIR|TMP|TEMP)$/,
    'the service sets it for each run, so that the run works in its own folder with its own tools',
  ],
  [/^(LD|DYLD|GLIBC|MALLOC)_/, 'it would load code into the processes of the run'],
  [
    /^(BASH_ENV|BASH_FUNC_.*|ENV|IFS|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|CDPATH)$/,
    'it would change what a shell runs',
  ],
  [
    /^(NODE_OPTIONS|NODE_PATH|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS)$/,
    'it would load code into the processes of the run',
  ],
  [
    /^TF_VAR_/,
    "a template's variable is set by its own name, without TF_VAR_, in the category template, where its schema checks it",
  ],
  [
    /^(CHECKPOINT_DISABLE$|(?!TF_TOKEN_)(TF|TOFU|TERRAGRUNT)_)/,
    'the service sets how the tool is called and where its state and files are',
  ],
];

/** The remedy for a reserved name. The reason for TF_VAR_… already contains its own remedy. */
const otherName = (name: string) => (/^TF_VAR_/i.test(name) ? '' : '; choose another name');

/** The JSON Schema of the names that an environment variable may have, as `explainVariableName` says. */
export const environmentNameSchema = {
  pattern: environmentName.source,
  not: {
    anyOf: [
      { enum: [...unusableNames] },
      // A pattern of JSON Schema has no flags: each letter stands for both of its cases.
      ...reservedNames.map(([{ source }]) => ({
        pattern: source.replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`),
      })),
    ],
  },
};

/** Why a variable cannot have a name; null if it can. */
export function explainVariableName(category: VariableCategory, name: string): string | null {
  if (unusableNames.has(name)) return 'is a name that no variable can have';
  if (category === 'template') {
    return templateName.test(name) ? null : 'expected letters, digits, "_" and "-", starting with a letter or "_"';
  }
  if (!environmentName.test(name)) return 'expected letters, digits and "_", starting with no digit';
  const reserved = reservedNames.find(([pattern]) => pattern.test(name.toUpperCase()));
  return reserved ? `${name} is reserved: ${reserved[1]}${otherName(name)}` : null;
}
