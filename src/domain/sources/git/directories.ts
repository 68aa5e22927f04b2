import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStart } from '#domain/shared/processes.ts';
import { isOfGit } from './user.ts';

/**
 * The private directories in which git works. Each holds the credential of its repository, and has the process in its name that removes it, so that another
 * one can tell what a killed process left.
 */

const named = /^coordinator-git-(\d+)-(\d+)-/;

/** @param parent by default the directory for temporary files */
export async function makeGitDirectory(parent = tmpdir()): Promise<string> {
  return mkdtemp(join(parent, `coordinator-git-${process.pid}-${readStart(process.pid) ?? 0}-`));
}

/** Removes what killed processes of this user left. Only Linux tells when a process started; elsewhere, everything stays. */
export async function removeLeftGitDirectories(parent = tmpdir()): Promise<void> {
  if (process.platform !== 'linux') return;
  const left = (await readdir(parent)).filter((name) => {
    const [, pid, start] = named.exec(name) ?? [];
    return pid !== undefined && readStart(Number(pid)) !== start;
  });
  await Promise.all(left.map((name) => removeOwn(join(parent, name))));
}

/** Others may write there too, and another process may be removing the same. */
async function removeOwn(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => null);
  if (found?.isDirectory() && isOfGit(found.uid)) await rm(directory, { recursive: true, force: true });
}
