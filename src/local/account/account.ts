import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode, StartError } from '../errors.ts';
import { createWhole } from '../whole-file.ts';

/** The account that the servers, the API and git run as when root starts the service. */
export type Account = { readonly uid: number; readonly gid: number };

/** User ids that systems reserve for users which exist only while a service runs. */
const firstUid = 61_184;
const lastUid = 65_519;
const tries = 200;

const Recorded = z.object({ uid: z.int().positive(), gid: z.int().positive() });

/**
 * Finds the service account of the installation in this data directory. If `name` (COORDINATOR_USER) is null, root
 * chooses an unused id once and records it in the data directory.
 * @returns null if the service runs as this process's own user, which is not root
 * @throws StartError if the account cannot be used
 */
export function findServiceAccount(dataDir: string, name: string | null): Account | null {
  if (name !== null) return findNamedAccount(name);
  if (process.getuid?.() !== 0) return null;
  const path = join(dataDir, 'account.json');
  const recorded = readRecorded(path);
  if (recorded !== null) return recorded;
  const uid = chooseUnusedUid();
  try {
    createWhole(path, `${JSON.stringify({ uid, gid: uid })}\n`, 0o644);
  } catch (error) {
    // If two processes choose at the same time, the first one wins. A stand-alone API may have no data directory to record the id in.
    if (hasCode(error, 'EEXIST')) return findServiceAccount(dataDir, name);
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EROFS')) throw error;
  }
  return { uid, gid: uid };
}

/**
 * Reserves the account's id while this process runs, so that no worker gives it to an attempt. The reservation is an abstract socket, for
 * which workers look. If another process already has it, the id is reserved as well.
 */
export function claimAccount(account: Account | null): void {
  if (account === null || process.platform !== 'linux') return;
  createServer((connection) => connection.destroy())
    .once('error', () => {})
    .listen(`\0delivery-coordinator-uid-${account.uid}`)
    .unref();
}

/** The ids of an account of this machine; null if no account has this name. */
export function lookUpAccount(name: string): Account | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, '--', name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function findNamedAccount(name: string): Account | null {
  const account = lookUpAccount(name);
  if (account === null) {
    throw new StartError(`COORDINATOR_USER names the account "${name}", which does not exist on this machine.`);
  }
  const own = process.getuid?.();
  if (account.uid === 0) throw new StartError('COORDINATOR_USER must not name root: name an unprivileged account.');
  if (own === account.uid) return null;
  if (own !== 0) {
    throw new StartError(`Only root can start the service as "${name}": start it as root, or unset COORDINATOR_USER.`);
  }
  return account;
}

/** @throws StartError if a user other than root could have written the file */
function readRecorded(path: string): Account | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  const isTrusted = stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0;
  const recorded = isTrusted ? Recorded.safeParse(parseJson(readFileSync(path, 'utf8'))) : null;
  if (recorded?.success) return recorded.data;
  throw new StartError(
    `${path} must belong to root and hold the ids of the service account: remove the file, and the next start chooses another account.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports that the file does not contain an account.
    return null;
  }
}

function chooseUnusedUid(): number {
  const used = new Set(usersOfProcesses());
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const uid = randomInt(firstUid, lastUid + 1);
    const isNamed = spawnSync('id', ['--', String(uid)], { stdio: 'ignore' }).status === 0;
    if (!isNamed && !used.has(uid)) return uid;
  }
  throw new StartError('No unused user id was found: set COORDINATOR_USER to an account.');
}

/** The users of the processes that run now; empty on systems without /proc. */
function usersOfProcesses(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []);
}
