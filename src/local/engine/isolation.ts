import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Account } from '../account/account.ts';
import { changeUser, findClosedDirectory } from '../account/run-as.ts';

/** The files that an isolated program needs. */
export type FileAccess = {
  /** Files that it reads or executes. */
  readonly readable: readonly string[];
  /** Directories that it writes to. */
  readonly writable: readonly string[];
};

/**
 * The arguments that run the command after them in its own network and PID namespaces. The file system is read-only,
 * except for the directories that the program writes to. A directory that the account cannot enter (such as /root) is
 * replaced by an empty one, which holds only what the program needs. The program has PID 1, so that its children end
 * with it.
 */
export function wrapInIsolation({ readable, writable }: FileAccess, account: Account | null): string[] {
  const paths = [...readable, ...writable];
  const closed = account === null ? [] : paths.map((path) => findClosedDirectory(path, account));
  const masked = [...new Set(closed)].filter((directory) => directory !== null);
  return [
    'bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev-bind',
    '/dev',
    '/dev',
    ...masked.flatMap((directory) => maskOf(directory, paths)),
    ...readable
      .filter((path) => masked.some((mask) => isBelow(path, mask)))
      .flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    '--unshare-net',
    '--unshare-pid',
    '--unshare-ipc',
    '--as-pid-1',
    '--chdir',
    '/',
    '--',
    ...(account === null ? [] : [...changeUser(account), '--inh-caps=-all', '--bounding-set=-all']),
  ];
}

/** Why this machine cannot isolate programs, as the end of a sentence; null if it can. */
export function findIsolationProblem(account: Account | null): string | null {
  if (process.platform !== 'linux') return 'isolation needs Linux';
  for (const program of ['bwrap', 'socat']) {
    const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined) return `${program === 'bwrap' ? 'bubblewrap' : program} is not installed`;
  }
  const [command = '', ...given] = [...wrapInIsolation({ readable: [], writable: [] }, account), 'true'];
  const { status, stderr, error } = spawnSync(command, given, { cwd: '/', encoding: 'utf8' });
  if (status === 0) return null;
  const said = (stderr || error?.message || `exit code ${status}`).trim().split('\n').at(-1);
  return `bubblewrap cannot create a network namespace (${said?.replace(/\.$/, '')})`;
}

/** Arguments that replace a directory by an empty one, which contains only the directories that lead to the paths. */
function maskOf(directory: string, paths: readonly string[]): string[] {
  const parents = new Set(
    paths.filter((path) => isBelow(path, directory)).flatMap((path) => directoriesBetween(directory, path)),
  );
  const made = [...parents].sort().flatMap((path) => ['--perms', '0755', '--dir', path]);
  return ['--perms', '0755', '--tmpfs', directory, ...made];
}

/** The directories below `top` that lead to a path, without the path itself. */
function directoriesBetween(top: string, path: string): string[] {
  const parent = dirname(path);
  return parent === top ? [] : [...directoriesBetween(top, parent), parent];
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
