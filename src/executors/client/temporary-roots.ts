import { spawn } from 'node:child_process';
import { chownSync, lstatSync, lutimesSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedEnvironment } from '../shared/environment.ts';
import { isWorldReadable } from './world-permissions.ts';

/**
 * The directories of hosts in the system's temporary directory. The last host of a directory removes it (`host/host-directories.ts`). What a killed
 * service left is removed by the next one that starts on the machine, with the rights of the directory's user: a process with other rights could be
 * led elsewhere by links.
 */

const prefix = 'coordinator-executor-';
const program = fileURLToPath(new URL('../host/remove-root.ts', import.meta.url));

/** The user of a directory. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The usual name is predictable, so another user may have taken it. A random name serves as well. */
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

/** Makes a directory again that was removed while it had no host, and marks it as used: one that is new to its user is not removed for a minute. */
export function keepTemporaryRoot(path: string, { uid, gid }: Owner): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, uid, gid);
  }
  const now = new Date();
  lutimesSync(path, now, now);
}

/**
 * Removes the directories that no living host uses, but for `own`, one after another. It needs root, and can only be done for users who can read the
 * program that does it.
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

/** The user to whom a directory belongs that nobody else may enter; null if it is no such directory. */
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
