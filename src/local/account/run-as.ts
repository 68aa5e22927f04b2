import { spawnSync } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../errors.ts';
import type { Account } from './account.ts';

/** How to start a program as an account. */
export type RunAs = {
  /** The arguments that precede the command. */
  readonly prefix: readonly string[];
  /** The user that Node itself switches to; null: the prefix does it, or the user does not change. */
  readonly user: Account | null;
};

/**
 * Says how to start a program as the account, which must have access to the paths. If one of them is below a directory
 * that the account cannot enter, such as /root, the process keeps one capability of root (CAP_DAC_READ_SEARCH): it may
 * read any file and enter any directory, but it may write only where the account may.
 * @throws StartError if the system cannot keep the capability
 */
export function runAs(account: Account | null, paths: readonly string[]): RunAs {
  if (account === null || paths.every((path) => findClosedDirectory(path, account) === null)) {
    return { prefix: [], user: account };
  }
  const prefix = [
    ...changeUser(account),
    // Without this bit, access(2) ignores the capability, and PostgreSQL calls it to find its own programs.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
    '--bounding-set=-all,+dac_read_search',
  ];
  if (spawnSync('setpriv', [...prefix.slice(1), 'true']).status === 0) return { prefix, user: null };
  throw new StartError(
    `User ${account.uid} cannot access ${paths.join(' and ')}: let others enter the directories above (chmod o+x), or start as a user other than root.`,
  );
}

/** The arguments that run the command after them as the account. */
export function changeUser({ uid, gid }: Account): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

/** The topmost directory above a path that the account cannot enter; null if it can enter all. */
export function findClosedDirectory(path: string, account: Account): string | null {
  const parent = dirname(path);
  const above = parent === path ? null : findClosedDirectory(parent, account);
  if (above !== null || parent === path) return above;
  return canEnter(realpathSync(parent), account) ? null : parent;
}

function canEnter(directory: string, { uid, gid }: Account): boolean {
  const stats = statSync(directory);
  const bit = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001;
  return (stats.mode & bit) !== 0;
}
