import { execFile } from 'node:child_process';
import { constants, readdirSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { FileContent } from '#domain/registry/files.ts';
import { AttemptFailure, codeOf } from './attempt-error.ts';

/** Files inside an attempt's directory: ours go in private, theirs are read as hostile. */

const privateFile = 0o600;
const executableFile = 0o700;

export async function writePrivate(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content, { mode: privateFile });
}

/** Lays out a template's files. Text that begins with `#!` can be run. @throws AttemptFailure `files_invalid` */
export async function layOutFiles(root: string, files: Readonly<Record<string, FileContent>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = resolve(root, path);
    if (!target.startsWith(root + sep) || path.includes('\0')) {
      throw new AttemptFailure('files_invalid', `the file "${path}" does not lie below the template's root`);
    }
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64');
    const mode = bytes.subarray(0, 2).toString('latin1') === '#!' ? executableFile : privateFile;
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, bytes, { mode, flag: 'wx' });
    } catch (error) {
      throw new AttemptFailure('files_invalid', `the file "${path}" could not be written: ${codeOf(error)}`);
    }
  }
}

/**
 * A file that a template may have written, or null where there is none. Links, pipes and devices are refused: reading
 * those could lead elsewhere, or never end. @throws Error saying what is wrong with it
 */
export async function readUntrusted(path: string, maximumBytes: number): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw new Error(codeOf(error) === 'ELOOP' ? 'it is a symbolic link' : `it cannot be opened: ${codeOf(error)}`);
  });
  if (file === null) return null;
  try {
    const { size, ...stats } = await file.stat();
    if ((stats.mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error('it is no regular file');
    if (size > maximumBytes) throw new Error(`it has ${size} bytes, and at most ${maximumBytes} are read`);
    const content = Buffer.alloc(size);
    const { bytesRead } = await file.read(content, 0, size, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Bytes that a directory takes on disk. What vanishes meanwhile counts nothing; what was put too deep to be looked at
 * counts as endless, and a directory that its owner closed is opened.
 */
export async function measureDirectory(path: string): Promise<number> {
  let total = 0;
  const names = await listForMeasuring(path);
  if (names === null) return Number.POSITIVE_INFINITY;
  for (const name of names) {
    const child = join(path, name);
    const stats = await lstat(child).catch(() => null);
    total += (stats?.blocks ?? 0) * 512;
    if (stats?.isDirectory()) total += await measureDirectory(child);
  }
  return total;
}

async function listForMeasuring(path: string): Promise<string[] | null> {
  try {
    return await readdir(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EACCES' && (await openDirectory(path))) return readdir(path).catch(() => []);
    return code === 'ENAMETOOLONG' ? null : [];
  }
}

function openDirectory(path: string): Promise<boolean> {
  return chmod(path, 0o700).then(
    () => true,
    () => false,
  );
}

/**
 * Removes a directory with all it holds, also where a template took the right to do so from its own directories, or
 * made them deeper than a path can be long.
 */
export async function removeDirectory(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    await remove();
  } catch {
    await unlockDirectories(path).catch(() => undefined);
    await remove().catch(() => promisify(execFile)('rm', ['-rf', '--', path]));
  }
}

async function unlockDirectories(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlockDirectories(join(path, entry.name));
  }
}

/** Names in a directory, or none where it cannot be read. */
export function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Parses JSON that a template wrote. @throws Error saying so where it is none, and nothing of what it says instead */
export function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw new Error('it is no JSON in UTF-8');
  }
}
