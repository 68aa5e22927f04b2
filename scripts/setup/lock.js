import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from './errors.js';

/** The cache directory of set-up, which all clones of this user share. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'delivery-coordinator');

/**
 * Runs the work under a lock with this name, which all set-ups of this user share. Takes over the lock if its holder is
 * gone.
 */
export async function withLock(name, work) {
  const lock = join(cache, `${name}.lock`);
  const release = () => rmSync(lock, { recursive: true, force: true });
  mkdirIn(cache);
  let hasReported = false;
  while (!tryLock(lock)) {
    if (!hasReported) console.log(`Waiting for another set-up (${name}) to finish …`);
    hasReported = true;
    await delay(500);
  }
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    // By the time this process exits, another set-up may hold the lock.
    process.off('exit', release);
  }
}

/** Creates a directory in the cache. @throws SetupError if it cannot be created */
export function mkdirIn(directory) {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new SetupError(
      `The cache ${directory} cannot be created (${error.code}): set XDG_CACHE_HOME to a writable directory.`,
    );
  }
}

/** Creating a directory is atomic, so only one process succeeds. */
function tryLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
    return false;
  }
  writeFileSync(join(lock, 'pid'), String(process.pid));
  return true;
}

/** Whether the holder is gone, or has not written its process id within ten seconds. */
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
    // The lock has just been released.
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
