import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hasCode } from './errors.ts';

/**
 * Creates a file that nobody ever reads without its whole content: neither a process that starts at the same time, nor the next start after
 * this process was killed. On a file system without hard links, a reader may still see a part.
 * @throws the system error `EEXIST` if the file exists
 */
export function createWhole(path: string, content: string, mode: number): void {
  const draft = `${path}.${randomUUID()}.draft`;
  writeFileSync(draft, content, { mode, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Some file systems do not support hard links.
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'ENOTSUP') && !hasCode(error, 'ENOSYS')) throw error;
    writeFileSync(path, content, { mode, flag: 'wx' });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces the content of a file. A process that reads it meanwhile gets either the old or the new content, never a part of one. */
export function replaceWhole(path: string, content: string, mode: number): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
