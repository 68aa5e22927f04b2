import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Account } from '../account/account.ts';
import { changeUser, findClosedDirectory } from '../account/run-as.ts';

/** What a program in a network of its own needs of the file system. */
export type Needs = {
  /** Files that it reads or runs. */
  readonly readable: readonly string[];
  /** Directories that it writes into. */
  readonly writable: readonly string[];
};

/**
 * The command that runs another one in a network and a list of processes of its own. The file system is read-only but
 * for what the program needs to write. Where the account cannot pass a directory (such as /root), the program sees an
 * empty one in its place, which holds nothing but what the program needs. The first process has number 1 there: all
 * others end with it.
 */
export function isolate({ readable, writable }: Needs, account: Account | null): string[] {
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

/** Why this machine cannot isolate programs, as the end of a sentence; null where it can. */
export function whyNotIsolated(account: Account | null): string | null {
  if (process.platform !== 'linux') return 'only Linux can keep it to itself';
  for (const program of ['bwrap', 'socat']) {
    const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined) return `${program === 'bwrap' ? 'bubblewrap' : program} is not installed`;
  }
  const [command = '', ...given] = [...isolate({ readable: [], writable: [] }, account), 'true'];
  const { status, stderr, error } = spawnSync(command, given, { cwd: '/', encoding: 'utf8' });
  if (status === 0) return null;
  const said = (stderr || error?.message || `exit code ${status}`).trim().split('\n').at(-1);
  return `bubblewrap cannot make a network of its own (${said?.replace(/\.$/, '')})`;
}

/** An empty directory in the place of one, with the directories on the way to the paths. */
function maskOf(directory: string, paths: readonly string[]): string[] {
  const onTheWay = new Set(
    paths.filter((path) => isBelow(path, directory)).flatMap((path) => between(directory, path)),
  );
  const made = [...onTheWay].sort().flatMap((path) => ['--perms', '0755', '--dir', path]);
  return ['--perms', '0755', '--tmpfs', directory, ...made];
}

/** The directories below `top` that lead to a path, without the path itself. */
function between(top: string, path: string): string[] {
  const parent = dirname(path);
  return parent === top ? [] : [...between(top, parent), parent];
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
