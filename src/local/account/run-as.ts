import { spawnSync } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../errors.ts';
import type { Account } from './account.ts';

/** How a program is started as an account. */
export type RunAs = {
  /** What to put before the command. */
  readonly prefix: readonly string[];
  /** What Node changes to itself. */
  readonly user: Account | null;
};

/**
 * How to start a program as the account, which needs to reach the paths. An account cannot pass a directory that is
 * closed to others, such as /root. There, the process keeps one capability of root's: it may read any file and enter any
 * directory, but it writes only what the account owns.
 * @throws StartError where that is not possible either
 */
export function runAs(account: Account | null, paths: readonly string[]): RunAs {
  if (account === null || paths.every((path) => findClosedDirectory(path, account) === null)) {
    return { prefix: [], user: account };
  }
  const prefix = [
    ...changeUser(account),
    // Without it, access(2) forgets the capability, and PostgreSQL asks by it whether its own programs are there.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
    '--bounding-set=-all,+dac_read_search',
  ];
  if (spawnSync('setpriv', [...prefix.slice(1), 'true']).status === 0) return { prefix, user: null };
  throw new StartError(
    `User ${account.uid} cannot reach ${paths.join(' and ')}: open the directories above to others (chmod o+x), or start as a user other than root.`,
  );
}

/** A command that runs what follows as the account. */
export function changeUser({ uid, gid }: Account): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

/** The highest directory above a path which the account cannot pass; null where it passes all of them. */
export function findClosedDirectory(path: string, account: Account): string | null {
  const parent = dirname(path);
  const above = parent === path ? null : findClosedDirectory(parent, account);
  if (above !== null || parent === path) return above;
  return isPassable(realpathSync(parent), account) ? null : parent;
}

function isPassable(directory: string, { uid, gid }: Account): boolean {
  const stats = statSync(directory);
  const bit = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001;
  return (stats.mode & bit) !== 0;
}
