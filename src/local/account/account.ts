import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode, StartError } from '../errors.ts';

/** Who the servers, the API and git run as where the service is started as root. */
export type Account = { readonly uid: number; readonly gid: number };

/** Ids that systems keep for users which exist as long as a service does. */
const firstUid = 61_184;
const lastUid = 65_519;
const tries = 200;

const Recorded = z.object({ uid: z.int().positive(), gid: z.int().positive() });

/**
 * The service account of the installation in this data directory. `name` is the account that COORDINATOR_USER names.
 * Without it, root chooses an unused id once and records it in the data directory. Null where this process is not root:
 * it has no other account to give.
 * @throws StartError
 */
export function findServiceAccount(dataDir: string, name: string | null): Account | null {
  if (name !== null) return findNamedAccount(name);
  if (process.getuid?.() !== 0) return null;
  const path = join(dataDir, 'account.json');
  const recorded = readRecorded(path);
  if (recorded !== null) return recorded;
  const uid = chooseUnusedUid();
  try {
    writeFileSync(path, `${JSON.stringify({ uid, gid: uid })}\n`, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    // An API by itself has no data directory. Two processes may choose at once: the first one's choice counts.
    if (hasCode(error, 'EEXIST')) return findServiceAccount(dataDir, name);
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EROFS')) throw error;
  }
  return { uid, gid: uid };
}

/**
 * Claims the account's id for as long as this process lives, by the name that workers ask for before they give an id to
 * an attempt. A claim that somebody else holds is no fault: the id is then taken for them as well.
 */
export function claimAccount(account: Account | null): void {
  if (account === null || process.platform !== 'linux') return;
  createServer((connection) => connection.destroy())
    .once('error', () => {})
    .listen(`\0delivery-coordinator-uid-${account.uid}`)
    .unref();
}

/** The numbers of an account of this machine; null where there is none of that name. */
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
  if (account.uid === 0) throw new StartError('COORDINATOR_USER must not name root: name an account without rights.');
  if (own === account.uid) return null;
  if (own !== 0) {
    throw new StartError(`Only root can start the service as "${name}": start as root, or leave COORDINATOR_USER out.`);
  }
  return account;
}

/** @throws StartError where somebody else than root may have written it */
function readRecorded(path: string): Account | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  const isTrusted = stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0;
  const recorded = isTrusted ? Recorded.safeParse(parseJson(readFileSync(path, 'utf8'))) : null;
  if (recorded?.success) return recorded.data;
  throw new StartError(`${path} must belong to root and name the service account: remove it to choose another one.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Reported by the caller as what it is: no account.
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
  throw new StartError('No unused user id was found: name an account with COORDINATOR_USER.');
}

/** The owners of the processes that run now, where the system tells. */
function usersOfProcesses(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []);
}
