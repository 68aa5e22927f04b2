import { readFileSync } from 'node:fs';
import { settings } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings whose value may come from a file, named by the same variable with `_FILE` behind it. */
export const secretSettings = Object.entries(settings)
  .filter(([, setting]) => 'isSecret' in setting)
  .map(([name]) => name);

/**
 * Puts the content of each file that `NAME_FILE` names in the place of `NAME`, so that orchestrators can hand secrets
 * over as files and no environment has them. White space around the content is dropped, as it is around a variable.
 * @param problems takes a sentence for each file that cannot be used; the content is never repeated
 */
export function readSecretFiles(environment: Environment, problems: string[]): Environment {
  const found: Record<string, string> = {};
  for (const name of secretSettings) {
    const path = environment[`${name}_FILE`]?.trim();
    if (!path) continue;
    if (environment[name]?.trim()) {
      problems.push(`${name} is given twice, by itself and by ${name}_FILE: leave one of them out.`);
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
