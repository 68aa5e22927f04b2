import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { openTemporaryRoot } from './temporary-roots.ts';
import { isWorldTraversable } from './world-permissions.ts';

/** The user that the executor host runs as. */
export interface HostUser {
  readonly uid: number;
  readonly gid: number;
}

/** The range that systemd keeps for dynamic users; it lies below the ids that containers map. */
const firstUid = 61_184;
const lastUid = 65_519;

/**
 * Chooses the host's user: the account in the setting; or, if the worker is root, a user id that nothing else uses; or the
 * worker's own user (null). The id depends only on the directory, so that each host can remove what an earlier one left.
 * @throws Error if the account does not exist or the worker cannot switch users
 */
export function chooseHostUser(
  accountName: string | null,
  directory: string,
  reservedUid: number | null,
): HostUser | null {
  const isRoot = process.getuid?.() === 0;
  if (accountName !== null && !isRoot) {
    throw new Error(
      'COORDINATOR_EXECUTOR_USER needs a worker that runs as root: leave it out, or start the worker as root.',
    );
  }
  if (accountName !== null) return findAccount(accountName);
  if (!isRoot || process.platform !== 'linux') return null;
  const number = createHash('sha256').update(`executor ${directory}`).digest().readUInt32BE(0);
  const chosen = firstUid + (number % (lastUid - firstUid));
  // Another process of the service has this user id.
  const uid = chosen === reservedUid ? chosen + 1 : chosen;
  return { uid, gid: uid };
}

function findAccount(name: string): HostUser {
  const readId = (flag: string) =>
    Number(execFileSync('id', [flag, '--', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  let user: HostUser;
  try {
    user = { uid: readId('-u'), gid: readId('-g') };
  } catch {
    throw new Error(`COORDINATOR_EXECUTOR_USER names the account "${name}", which does not exist on this machine.`);
  }
  if (user.uid === 0)
    throw new Error('COORDINATOR_EXECUTOR_USER must not name root: template code never runs as root.');
  return user;
}

/** The directory in which a user's hosts keep their files. */
export interface HostRoot {
  readonly path: string;
  /** It is in the system's temporary directory, and its last host removes it. */
  readonly isTemporary: boolean;
}

/**
 * Opens the directory in which a user's hosts keep their files: the wanted one, or one in the system's temporary directory if
 * the user cannot reach it. No other user may enter it.
 */
export function openHostRoot(wanted: string, user: HostUser | null): HostRoot {
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  const real = realpathSync(wanted);
  if (user === null) return { path: real, isTemporary: false };
  if (isWorldTraversable(dirname(real))) {
    chownSync(real, user.uid, user.gid);
    return { path: real, isTemporary: false };
  }
  return { path: openTemporaryRoot(user), isTemporary: true };
}
