import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isReachableByAll } from './reachable.ts';

/** Whom the executor host runs as. */
export interface HostUser {
  readonly uid: number;
  readonly gid: number;
}

/** Kept by convention for users that exist as long as a service does, and below what containers map. */
const firstUid = 61_184;
const lastUid = 65_519;

/**
 * The host's user: the account that the setting names; else, where the worker is root, one that nobody else has, always the
 * same for a directory, so that each host can clear what an earlier one left; else the worker's own (null).
 * @throws Error where the account does not exist or the worker may not become it
 */
export function chooseHostUser(
  accountName: string | null,
  directory: string,
  takenUid: number | null,
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
  // The account of the service's other processes is not the host's.
  const uid = chosen === takenUid ? chosen + 1 : chosen;
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

/**
 * The directory in which hosts of a user keep what is theirs: the one that is wanted, or one of the system's temporary
 * directory where the user could not reach that. Nobody else may enter it.
 */
export function openHostRoot(wanted: string, user: HostUser | null): string {
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  const real = realpathSync(wanted);
  if (user === null) return real;
  if (isReachableByAll(dirname(real))) {
    chownSync(real, user.uid, user.gid);
    return real;
  }
  return openTemporaryRoot(user);
}

/** Its name is known, so somebody else may have taken it: then another one serves as well. */
function openTemporaryRoot({ uid, gid }: HostUser): string {
  const usual = join(realpathSync(tmpdir()), `coordinator-executor-${uid}`);
  try {
    mkdirSync(usual, { mode: 0o700 });
    chownSync(usual, uid, gid);
    return usual;
  } catch {
    const stats = lstatSync(usual, { throwIfNoEntry: false });
    if (stats?.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0) return usual;
    const other = mkdtempSync(`${usual}-`);
    chownSync(other, uid, gid);
    return other;
  }
}
