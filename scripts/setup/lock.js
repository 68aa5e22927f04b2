import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from './errors.js';

/** Set-up's own directory, shared by every clone of this user. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'delivery-coordinator');

/**
 * Runs the work while no other set-up of this user does work of that name; waits for the other one. A lock whose holder is
 * gone is taken over.
 */
export async function withLock(name, work) {
  const lock = join(cache, `${name}.lock`);
  mkdirIn(cache);
  let hasTold = false;
  while (!tryLock(lock)) {
    if (!hasTold) console.log(`Waiting for another set-up (${name}) to finish …`);
    hasTold = true;
    await delay(500);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** @throws SetupError in one sentence where the cache cannot be made */
export function mkdirIn(directory) {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new SetupError(
      `The cache ${directory} cannot be made (${error.code}): name a directory that can be written in XDG_CACHE_HOME.`,
    );
  }
}

/** Making a directory is atomic: of two processes, one succeeds. */
function tryLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
    return false;
  }
  writeFileSync(join(lock, 'pid'), String(process.pid));
  process.once('exit', () => rmSync(lock, { recursive: true, force: true }));
  return true;
}

/** Its holder is gone; or it never said who it was, and had ten seconds to do so. */
function isAbandoned(lock) {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'));
    return pid > 0 ? !isAlive(pid) : isOld(lock);
  } catch {
    return isOld(lock);
  }
}

function isOld(lock) {
  try {
    return Date.now() - statSync(lock).mtimeMs > 10_000;
  } catch {
    // It was given back a moment ago.
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
