import { chownSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Account } from '../account/account.ts';
import { findClosedDirectory } from '../account/run-as.ts';

/** On some systems, the address of a socket has 104 bytes including the final zero. */
const maxAddressLength = 103;
/** The longest file name in the directory: the lock of PostgreSQL's socket. */
const longestName = '.s.PGSQL.5432.lock';
const prefix = 'coordinator-sockets-';

/**
 * Creates an empty directory for the sockets of the embedded servers, which only their account may enter. It is `sockets`
 * in the data directory. If that path is too long for a socket, or the account cannot enter it, the directory is a
 * temporary one and `sockets` is a link to it, by which the next start finds and removes it.
 */
export function openSocketDirectory(dataDir: string, account: Account | null): string {
  const usual = join(dataDir, 'sockets');
  removeSocketDirectory(dataDir);
  const isClosed = account !== null && findClosedDirectory(usual, account) !== null;
  const isUsable = !isClosed && Buffer.byteLength(join(usual, longestName)) <= maxAddressLength;
  const elsewhere = account === null ? shortTemporaryDirectory() : '/tmp';
  const directory = isUsable ? usual : mkdtempSync(join(elsewhere, prefix));
  if (isUsable) mkdirSync(directory, { mode: 0o700 });
  else symlinkSync(directory, usual);
  if (account !== null) chownSync(directory, account.uid, account.gid);
  return directory;
}

/** Removes the directory, and the temporary one that it may be a link to. */
export function removeSocketDirectory(dataDir: string): void {
  const usual = join(dataDir, 'sockets');
  const stats = lstatSync(usual, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) {
    const target = readlinkSync(usual);
    if (basename(target).startsWith(prefix)) rmSync(target, { recursive: true, force: true });
  }
  rmSync(usual, { recursive: true, force: true });
}

/** The user's own temporary directory, or `/tmp` if a socket in it would have a path that is too long. */
function shortTemporaryDirectory(): string {
  const path = join(tmpdir(), `${prefix}XXXXXX`, longestName);
  return Buffer.byteLength(path) <= maxAddressLength ? tmpdir() : '/tmp';
}
