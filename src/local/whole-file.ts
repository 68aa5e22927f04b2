import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hasCode } from './errors.ts';

/**
 * Creates a file that nobody ever sees without its whole content: neither a process that starts at the same time, nor the next start after
 * this process was killed.
 * @throws the error of the system `EEXIST` if the file exists
 */
export function createWhole(path: string, content: string, mode: number): void {
  const draft = `${path}.${randomUUID()}.draft`;
  writeFileSync(draft, content, { mode, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Some file systems know no links.
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'ENOTSUP') && !hasCode(error, 'ENOSYS')) throw error;
    writeFileSync(path, content, { mode, flag: 'wx' });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Writes a file anew. Whoever reads it meanwhile sees the former or the new content, never a part of one. */
export function replaceWhole(path: string, content: string, mode: number): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
