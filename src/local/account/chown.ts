import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { hasCode } from '../errors.ts';
import type { Account } from './account.ts';

/** Opens a file or directory without following a link, and without waiting for the other end of a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Changes the owner of a directory and everything in it to the account, if it belongs to another one, as when an earlier
 * start used another account. Only entries of the directory's previous owner change. Each entry is opened relative to
 * its directory's descriptor, so that a process which can still write there cannot redirect root to other files. The
 * directory itself changes last, so that the next call repeats an interrupted change.
 */
export function chownTree(path: string, account: Account): void {
  const directory = openSync(path, flags | constants.O_DIRECTORY);
  try {
    const previous = fstatSync(directory).uid;
    if (previous === account.uid) return;
    chownEntries(directory, path, previous, account);
    fchownSync(directory, account.uid, account.gid);
  } finally {
    closeSync(directory);
  }
}

function chownEntries(directory: number, path: string, previous: number, account: Account): void {
  // Only Linux has a path that leads to the directory of a descriptor.
  const place = process.platform === 'linux' ? `/proc/self/fd/${directory}` : path;
  for (const name of readdirSync(place)) chownEntry(`${place}/${name}`, previous, account);
}

function chownEntry(path: string, previous: number, account: Account): void {
  const entry = openEntry(path);
  if (entry === null) return;
  try {
    const stats = fstatSync(entry);
    if (stats.uid !== previous) return;
    if (stats.isDirectory()) chownEntries(entry, path, previous, account);
    if (stats.isDirectory() || stats.isFile()) fchownSync(entry, account.uid, account.gid);
  } finally {
    closeSync(entry);
  }
}

/** @returns null for a link, a socket, or an entry that no longer exists */
function openEntry(path: string): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (['ELOOP', 'ENXIO', 'ENOENT', 'EOPNOTSUPP'].some((code) => hasCode(error, code))) return null;
    throw error;
  }
}
