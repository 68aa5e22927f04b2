import { spawn } from 'node:child_process';
import { chownSync, lstatSync, lutimesSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedEnvironment } from '../shared/environment.ts';
import { isWorldReadable } from './world-permissions.ts';

/**
 * The directories of hosts in the system's temporary directory. The last host of a directory removes it (`host/host-directories.ts`). If a
 * service is killed, the next one that starts on the machine removes what it left. It does so with the rights of the directory's user,
 * because links could lead a process with other rights elsewhere.
 */

const prefix = 'coordinator-executor-';
const program = fileURLToPath(new URL('../host/remove-root.ts', import.meta.url));

/** The user of a directory. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the directory of a user. The usual name is predictable, so another user may have taken it. Then a random name is used. */
export function openTemporaryRoot({ uid, gid }: Owner): string {
  const usual = join(realpathSync(tmpdir()), `${prefix}${uid}`);
  try {
    mkdirSync(usual, { mode: 0o700 });
    chownSync(usual, uid, gid);
    return usual;
  } catch {
    if (ownerOf(usual) === uid) return usual;
    const other = mkdtempSync(`${usual}-`);
    chownSync(other, uid, gid);
    return other;
  }
}

/**
 * Creates a directory again if it was removed while it had no host, and marks it as used. A directory that is new to its user is not
 * removed for a minute.
 */
export function keepTemporaryRoot(path: string, { uid, gid }: Owner): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, uid, gid);
  }
  const now = new Date();
  lutimesSync(path, now, now);
}

/**
 * Removes, one after another, the directories that no living host uses, except `own`. It needs root, and works only for users who can read
 * the program that removes them.
 */
export async function removeUnusedRoots(own: string): Promise<void> {
  if (process.getuid?.() !== 0 || !isWorldReadable(process.execPath) || !isWorldReadable(program)) return;
  const directory = realpathSync(tmpdir());
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const uid = Number(/^coordinator-executor-([1-9]\d*)(-\w{6})?$/.exec(name)?.[1]);
    if (path !== own && ownerOf(path) === uid) await removeAs(uid, path);
  }
}

/** The user of a directory, if it is a directory that nobody else may enter; null otherwise. */
function ownerOf(path: string): number | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() && (stats.mode & 0o077) === 0 ? stats.uid : null;
}

function removeAs(uid: number, path: string): Promise<void> {
  const child = spawn(process.execPath, ['--disable-sigusr1', program, path], {
    cwd: '/',
    env: allowedEnvironment(process.env),
    stdio: 'ignore',
    uid,
    gid: uid,
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}
