import { execFile } from 'node:child_process';
import { chmod, lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { FileContent } from '#domain/registry/files.ts';
import { AttemptFailure, codeOf } from './attempt-error.ts';

/** Files inside an attempt's directory: ours go in private, theirs are read as hostile. */

const reservedNames = ['.terraform', 'terraform.d'];
const privateFile = 0o600;
const executableFile = 0o700;

export async function writePrivate(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content, { mode: privateFile });
}

/** As `writePrivate`; text that begins with `#!` can be run. */
export async function writeInput(path: string, content: string | Buffer): Promise<void> {
  const bytes = Buffer.from(content);
  const mode = bytes.subarray(0, 2).toString('latin1') === '#!' ? executableFile : privateFile;
  await writeFile(path, bytes, { mode, flag: 'wx' });
}

/** A template's files as those of a job's work directory. @throws AttemptFailure `files_invalid` */
export function toWorkFiles(files: Readonly<Record<string, FileContent>>): Map<string, Buffer> {
  const laidOut = new Map<string, Buffer>();
  for (const [path, content] of Object.entries(files)) {
    if (path.split('/').some((name) => reservedNames.includes(name))) {
      throw new AttemptFailure('files_invalid', `the file "${path}" lies where the tool keeps its own`);
    }
    if (!resolve('/work', path).startsWith('/work/') || path.includes('\0')) {
      throw new AttemptFailure('files_invalid', `the file "${path}" does not lie below the template's root`);
    }
    laidOut.set(
      `work/${path}`,
      typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64'),
    );
  }
  return laidOut;
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

/** Parses JSON that a template wrote. @throws Error saying so where it is none, and nothing of what it says instead */
export function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw new Error('it is no JSON in UTF-8');
  }
}
