import { join } from 'node:path';
import type { EnvironmentFile } from '../protocol/request.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import { checkName } from './environment.ts';

/** The directory of these files. It is beside the template's own files, so no template has files in it. */
const directory = 'environment';

/**
 * Prepares the files for a job: by path, with the paths of linked files in their texts.
 * @throws AttemptFailure `environment_invalid` for a name that no variable can have
 */
export function writtenFiles(files: readonly EnvironmentFile[], paths: JobPaths): Map<string, string> {
  return new Map(files.map((file) => [join(directory, checkName(file.name)), withLinks(file, paths)]));
}

/** The variables with the paths of the files. */
export function pathsOfFiles(files: readonly EnvironmentFile[], paths: JobPaths): { name: string; value: string }[] {
  return files.map(({ name }) => ({ name, value: pathOf(name, paths) }));
}

function withLinks({ text, links = {} }: EnvironmentFile, paths: JobPaths): string {
  return Object.entries(links).reduce(
    (linked, [mark, name]) => linked.replaceAll(mark, () => pathOf(name, paths)),
    text,
  );
}

function pathOf(name: string, { input }: JobPaths): string {
  return join(input, directory, name);
}
