import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { hasCode } from '../errors.ts';
import type { Account } from './account.ts';

/** Opens a file or directory itself, never what a link leads to, and never waits for the other end of a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Gives a directory and everything in it to the account, where it belongs to somebody else (an earlier start may have
 * used another account). Only entries of the directory's previous owner are given. Entries are opened one by one and
 * below their directory's descriptor, so that whoever may still write there cannot lead root to other files. The
 * directory itself is last: an interrupted change is done again.
 */
export function giveDirectory(path: string, account: Account): void {
  const directory = openSync(path, flags | constants.O_DIRECTORY);
  try {
    const previous = fstatSync(directory).uid;
    if (previous === account.uid) return;
    giveEntries(directory, path, previous, account);
    fchownSync(directory, account.uid, account.gid);
  } finally {
    closeSync(directory);
  }
}

function giveEntries(directory: number, path: string, previous: number, account: Account): void {
  // Only Linux has a path for a descriptor's directory.
  const place = process.platform === 'linux' ? `/proc/self/fd/${directory}` : path;
  for (const name of readdirSync(place)) giveEntry(`${place}/${name}`, previous, account);
}

function giveEntry(path: string, previous: number, account: Account): void {
  const entry = openEntry(path);
  if (entry === null) return;
  try {
    const stats = fstatSync(entry);
    if (stats.uid !== previous) return;
    if (stats.isDirectory()) giveEntries(entry, path, previous, account);
    if (stats.isDirectory() || stats.isFile()) fchownSync(entry, account.uid, account.gid);
  } finally {
    closeSync(entry);
  }
}

/** Null for a link, for a socket, and for what is gone. */
function openEntry(path: string): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (['ELOOP', 'ENXIO', 'ENOENT', 'EOPNOTSUPP'].some((code) => hasCode(error, code))) return null;
    throw error;
  }
}
