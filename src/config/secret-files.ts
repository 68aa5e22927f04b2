import { readFileSync } from 'node:fs';
import { settings } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings whose value may come from a file, which the variable `<NAME>_FILE` names. */
export const secretSettings = Object.entries(settings)
  .filter(([, setting]) => 'isSecret' in setting)
  .map(([name]) => name);

/**
 * Replaces `NAME` by the content of the file that `NAME_FILE` names, so that orchestrators can provide secrets as files
 * and keep them out of the environment. White space around the content is removed.
 * @param problems receives a sentence for each file that cannot be used; it never repeats the content
 */
export function readSecretFiles(environment: Environment, problems: string[]): Environment {
  const found: Record<string, string> = {};
  for (const name of secretSettings) {
    const path = environment[`${name}_FILE`]?.trim();
    if (!path) continue;
    if (environment[name]?.trim()) {
      problems.push(`${name} and ${name}_FILE are both set: remove one of them.`);
      continue;
    }
    const content = readSecret(name, path, problems);
    if (content !== null) found[name] = content;
  }
  return { ...environment, ...found };
}

function readSecret(name: string, path: string, problems: string[]): string | null {
  try {
    const content = readFileSync(path, 'utf8').trim();
    if (content !== '') return content;
    problems.push(`${name} is missing: ${name}_FILE names an empty file (${path}).`);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    problems.push(`${name} is missing: ${name}_FILE names a file that cannot be read (${path}: ${reason}).`);
  }
  return null;
}
