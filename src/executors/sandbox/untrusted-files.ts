import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir, readlink } from 'node:fs/promises';
import { codeOf } from '../shared/errors.ts';

/**
 * Reads files that template code may have written. Each directory on the path is opened by name within the one before it, and
 * symbolic links are never followed. So a path cannot lead elsewhere, even if it is changed during the read.
 */

/** Linux's O_PATH, which Node does not name: opens a name without read permission. */
const onlyName = process.platform === 'linux' ? 0o10000000 : 0;
const directoryFlags = constants.O_DIRECTORY | constants.O_NOFOLLOW | onlyName;
const maxDepth = 32;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads a file below `root`; null if there is none. @throws Error that says what is wrong with the file */
export async function readUntrustedFile(root: string, path: string, maximumBytes: number): Promise<Buffer | null> {
  return withParent(root, path, async (name) => {
    const file = await open(name, fileFlags).catch(refuseLinks);
    return file === null ? null : readRegular(file, maximumBytes);
  });
}

/**
 * Reads the last lines of a file below `root`; null if there is none. A line that begins before the last `maximumBytes` is left out,
 * because half of a secret would not be recognized.
 * @throws Error that says what is wrong with the file
 */
export async function readEndOfUntrustedFile(root: string, path: string, maximumBytes: number): Promise<Buffer | null> {
  return withParent(root, path, async (name) => {
    const file = await open(name, fileFlags).catch(refuseLinks);
    return file === null ? null : readRegular(file, maximumBytes, 'end');
  });
}

/** Reads the target of a symbolic link below `root`, without following it. @throws Error if it is not a link */
export async function readUntrustedLink(root: string, path: string): Promise<Buffer> {
  const target = await withParent(root, path, (name) => readlink(name, { encoding: 'buffer' }));
  if (target === null) throw new Error('its directory is gone');
  return target;
}

interface FoundFile {
  /** Relative to the listed directory, with `/` between names. */
  readonly path: string;
  readonly isRegular: boolean;
}

/** Lists the files below a directory at any depth; empty if there is no such directory. @throws Error if there are more than `maxFiles` */
export async function listUntrustedFiles(root: string, path: string, maxFiles: number): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const directories = [''];
  let seen = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    if (directory.split('/').length > maxDepth)
      throw new Error(`its directories are nested more than ${maxDepth} deep`);
    const parent = [path, directory].filter(Boolean).join('/');
    for (const entry of await listOne(root, parent, maxFiles - seen)) {
      seen++;
      const name = [directory, entry.name].filter(Boolean).join('/');
      if (entry.isDirectory()) directories.push(name);
      else found.push({ path: name, isRegular: entry.isFile() });
    }
  }
  return found;
}

/** @throws Error if a directory has more than `maxFiles` entries; it stops reading there */
async function listOne(root: string, path: string, maxFiles: number): Promise<Dirent[]> {
  const read = async (name: string) => {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(name)) {
      if (entries.length === maxFiles) throw new Error('it contains too many files');
      entries.push(entry);
    }
    return entries;
  };
  return (await withParent(root, `${path}/.`, read)) ?? [];
}

/** Calls `use` with a name for the path while the path's directories are held open. Null if one of them is missing. */
async function withParent<Value>(
  root: string,
  path: string,
  use: (name: string) => Promise<Value>,
): Promise<Value | null> {
  const names = path.split('/').filter(Boolean);
  if (names.includes('..')) throw new Error('its path contains ".."');
  if (process.platform !== 'linux') return use(`${root}/${path}`);
  const last = names.pop() ?? '.';
  // A missing root is an error. It must not be mistaken for an empty one.
  let directory: FileHandle | null = await open(root, constants.O_DIRECTORY | onlyName).catch((error: unknown) => {
    throw new Error(`its root directory cannot be opened: ${codeOf(error)}`);
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
  if (code === 'ELOOP' || code === 'ENOTDIR') throw new Error('it is a symbolic link, or its path contains one');
  throw new Error(`it cannot be opened: ${code}`);
}

async function readRegular(file: FileHandle, maximumBytes: number, part: 'all' | 'end' = 'all'): Promise<Buffer> {
  try {
    const { size, ...stats } = await file.stat();
    if ((stats.mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error('it is not a regular file');
    if (size > maximumBytes && part === 'all')
      throw new Error(`it has ${size} bytes, and at most ${maximumBytes} are read`);
    const start = Math.max(0, size - maximumBytes);
    const content = Buffer.alloc(size - start);
    let read = 0;
    for (;;) {
      const { bytesRead } = await file.read(content, read, content.length - read, start + read);
      read += bytesRead;
      if (bytesRead === 0 || read === content.length) break;
    }
    const firstLine = start === 0 ? 0 : content.indexOf('\n') + 1;
    return content.subarray(start > 0 && firstLine === 0 ? read : firstLine, read);
  } finally {
    await file.close();
  }
}
