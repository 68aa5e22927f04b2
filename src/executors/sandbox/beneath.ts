import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import { codeOf } from '../attempt/attempt-error.ts';

/**
 * Reads what template code may have written. Every directory on the way is opened by its own name in the one before it,
 * and no link is followed: a path that leads elsewhere is refused, also when it is changed while it is read.
 */

/** Opens a name without reading rights and without following it; Node does not name this flag of Linux. */
const onlyName = process.platform === 'linux' ? 0o10000000 : 0;
const directoryFlags = constants.O_DIRECTORY | constants.O_NOFOLLOW | onlyName;
const deepest = 32;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A file below `root`; null where there is none. @throws Error saying what is wrong with it */
export async function readBeneath(root: string, path: string, maximumBytes: number): Promise<Buffer | null> {
  return withParent(root, path, async (name) => {
    const file = await open(name, fileFlags).catch(refuseLinks);
    return file === null ? null : readRegular(file, maximumBytes);
  });
}

export interface FoundFile {
  /** Relative to the directory that was listed, with `/` between names. */
  readonly path: string;
  readonly isRegular: boolean;
}

/** Files below a directory, at any depth; none where there is no such directory. @throws Error where there are more than `most` */
export async function listBeneath(root: string, path: string, most: number): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const directories = [''];
  let seen = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    if (directory.split('/').length > deepest) throw new Error(`it has directories more than ${deepest} deep`);
    const place = [path, directory].filter(Boolean).join('/');
    for (const entry of await listOne(root, place, most - seen)) {
      seen++;
      const name = [directory, entry.name].filter(Boolean).join('/');
      if (entry.isDirectory()) directories.push(name);
      else found.push({ path: name, isRegular: entry.isFile() });
    }
  }
  return found;
}

/** @throws Error where a directory has more than `most` entries; no more than those are read */
async function listOne(root: string, path: string, most: number): Promise<Dirent[]> {
  const read = async (name: string) => {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(name)) {
      if (entries.length === most) throw new Error('it holds too many files');
      entries.push(entry);
    }
    return entries;
  };
  return (await withParent(root, `${path}/.`, read)) ?? [];
}

/** Calls `use` with a name for the path whose directories are held open. Null where one of them is missing. */
async function withParent<Value>(
  root: string,
  path: string,
  use: (name: string) => Promise<Value>,
): Promise<Value | null> {
  const names = path.split('/').filter(Boolean);
  if (names.includes('..')) throw new Error('its path leads upwards');
  if (process.platform !== 'linux') return use(`${root}/${path}`);
  const last = names.pop() ?? '.';
  // The root itself must be there: without it, nothing is known of what it held.
  let directory: FileHandle | null = await open(root, constants.O_DIRECTORY | onlyName).catch((error: unknown) => {
    throw new Error(`its place is gone: ${codeOf(error)}`);
  });
  try {
    for (const name of names) {
      if (directory === null) return null;
      const next: FileHandle | null = await open(`/proc/self/fd/${directory.fd}/${name}`, directoryFlags).catch(
        refuseLinks,
      );
      await directory.close();
      directory = next;
    }
    return directory === null ? null : await use(`/proc/self/fd/${directory.fd}/${last}`);
  } finally {
    await directory?.close();
  }
}

function refuseLinks(error: unknown): null {
  const code = codeOf(error);
  if (code === 'ENOENT') return null;
  if (code === 'ELOOP' || code === 'ENOTDIR') throw new Error('it is a symbolic link, or lies behind one');
  throw new Error(`it cannot be opened: ${code}`);
}

async function readRegular(file: FileHandle, maximumBytes: number): Promise<Buffer> {
  try {
    const { size, ...stats } = await file.stat();
    if ((stats.mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error('it is no regular file');
    if (size > maximumBytes) throw new Error(`it has ${size} bytes, and at most ${maximumBytes} are read`);
    const content = Buffer.alloc(size);
    let read = 0;
    for (;;) {
      const { bytesRead } = await file.read(content, read, size - read, read);
      read += bytesRead;
      if (bytesRead === 0 || read === size) return content.subarray(0, read);
    }
  } finally {
    await file.close();
  }
}
