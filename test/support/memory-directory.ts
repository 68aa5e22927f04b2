import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';
const prefix = 'coordinator-test-';
/** The databases of a test run take less than a fifth of this. */
const neededBytes = 4 * 2 ** 30;

/**
 * A new directory in memory, which other users may traverse; null where there is no room for one. PostgreSQL creates a database for
 * most test files, and on a disk that takes it ten times as long. Removes the directories of test runs that were killed.
 */
export function makeMemoryDirectory(): string | null {
  try {
    accessSync(memory, constants.W_OK);
    removeAbandoned();
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < neededBytes) return null;
  } catch {
    return null;
  }
  const directory = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  chmodSync(directory, 0o711);
  return directory;
}

function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const owner = Number(name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : Number.NaN);
    if (Number.isInteger(owner) && !isAlive(owner)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
