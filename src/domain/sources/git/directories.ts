import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStart } from '#domain/shared/processes.ts';
import { isOfGit } from './user.ts';

/**
 * Creates and removes the private directories in which git works. Each contains the credential of its repository. Its name contains the
 * process that must remove it, so that other processes recognize the directories of killed ones.
 */

const named = /^coordinator-git-(\d+)-(\d+)-/;

/** @param parent the parent directory; by default the one for temporary files */
export async function makeGitDirectory(parent = tmpdir()): Promise<string> {
  return mkdtemp(join(parent, `coordinator-git-${process.pid}-${readStart(process.pid) ?? 0}-`));
}

/**
 * Removes the directories of killed processes of this user. Only on Linux can it find out when a process started; elsewhere, all
 * directories stay.
 */
export async function removeLeftGitDirectories(parent = tmpdir()): Promise<void> {
  if (process.platform !== 'linux') return;
  const left = (await readdir(parent)).filter((name) => {
    const [, pid, start] = named.exec(name) ?? [];
    return pid !== undefined && readStart(Number(pid)) !== start;
  });
  await Promise.all(left.map((name) => removeOwn(join(parent, name))));
}

/** Removes a directory only if this user owns it, since others may write there too. Another process may be removing the same one. */
async function removeOwn(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => null);
  if (found?.isDirectory() && isOfGit(found.uid)) await rm(directory, { recursive: true, force: true });
}
