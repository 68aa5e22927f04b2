import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { chown, lstat, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AttemptProcesses } from './attempt-processes.ts';
import { type Identity, isIsolatedUid } from './identity.ts';
import { isExecutorAlive } from './process-table.ts';
import { listNames, removeDirectory } from './work-files.ts';

const prefix = 'coordinator-attempt-';
const passable = 0o001;
const sharedPlaces = ['/tmp', '/var/tmp', '/dev/shm'];
/** Everybody may remove what is his own, as in /tmp; nobody may list it. */
const shared = 0o1733;

/** A directory for one attempt, which its user alone may enter. */
export async function makeAttemptDirectory(workRoot: string, identity: Identity, cookie: string): Promise<string> {
  const directory = await mkdtemp(join(chooseRoot(workRoot, identity), `${prefix}${cookie}-`));
  if (changesUser(identity)) await chown(directory, identity.uid, identity.gid);
  return directory;
}

/** The root for attempts: the one that is wanted, unless the executor's user cannot get there. */
function chooseRoot(workRoot: string, identity: Identity): string {
  const root = resolve(workRoot);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  if (!changesUser(identity)) return root;
  if (!isReachable(dirname(root))) return tmpdir();
  chmodSync(root, shared);
  return root;
}

function changesUser({ uid }: Identity): boolean {
  return uid !== process.getuid?.();
}

/** Whether everybody may pass through a directory and all above it. */
export function isReachable(directory: string): boolean {
  if ((statSync(directory).mode & passable) === 0) return false;
  const above = dirname(directory);
  return above === directory || isReachable(above);
}

/** Ends what is left of an attempt whose executor is gone, and removes its directory. Nothing of it lives afterwards. */
export async function sweepAttempt(
  directory: string | null,
  identity: Pick<Identity, 'uid' | 'isIsolated'>,
  cookie: string,
): Promise<void> {
  const isolatedUid = identity.isIsolated ? identity.uid : null;
  await new AttemptProcesses({ cookie, isolatedUid, directory, executorPid: null }).killAll();
  if (directory !== null) await removeDirectory(directory);
  if (isolatedUid !== null && process.getuid?.() === 0) await removeStrays(isolatedUid);
}

/**
 * Removes what an attempt left where everybody may write: its identity will be another attempt's some day, which must
 * neither read nor run it. No process of that identity lives, so nothing moves under the removal.
 */
async function removeStrays(uid: number): Promise<void> {
  for (const place of new Set([...sharedPlaces, tmpdir()])) {
    for (const name of listNames(place)) {
      if (ownerOf(join(place, name)) === uid) await removeDirectory(join(place, name));
    }
  }
}

/** Asked at once: most of these places is other people's, and waiting for each answer would cost far more than giving it. */
function ownerOf(path: string): number | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.uid ?? null;
  } catch {
    return null;
  }
}

/**
 * Sweeps the attempts that a worker left when both it and its executors were killed. Attempts of workers that still live
 * are not touched. To be called when a worker starts. Answers how many there were.
 */
export async function sweepLeftovers(workRoot: string): Promise<number> {
  let swept = 0;
  for (const root of new Set([resolve(workRoot), tmpdir()])) {
    for (const name of await readdir(root).catch(() => [])) {
      if (name.startsWith(prefix) && (await sweepIfLeft(join(root, name)))) swept++;
    }
  }
  return swept;
}

async function sweepIfLeft(directory: string): Promise<boolean> {
  const cookie = directory.slice(directory.lastIndexOf(prefix) + prefix.length).split('-')[0] ?? '';
  const stats = await lstat(directory).catch(() => null);
  if (!stats?.isDirectory() || cookie === '' || isExecutorAlive(cookie)) return false;
  const own = process.getuid?.();
  const isIsolated = own === 0 && isIsolatedUid(stats.uid);
  if (!isIsolated && stats.uid !== own) return false;
  await sweepAttempt(directory, { uid: stats.uid, isIsolated }, cookie);
  return true;
}
