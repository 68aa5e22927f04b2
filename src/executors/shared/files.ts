import { execFile } from 'node:child_process';
import { chmod, link, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from './errors.ts';

/** Writes a file that only its owner can read. */
export async function writePrivateFile(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
}

/**
 * Measures the bytes that a directory takes on disk. A file that vanishes meanwhile counts as 0, and a path too long to
 * read counts as infinite. A directory that its owner has made unreadable is made readable first.
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
 * Removes a directory and its content, even if a template removed its own write permission or nested directories deeper
 * than the longest path.
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

/** Copies a tree as hard links. Returns false if it has too many entries or the file system refuses. */
export async function linkTree(source: string, target: string, maxEntries: number): Promise<boolean> {
  let left = maxEntries;
  const copy = async (from: string, to: string): Promise<boolean> => {
    await mkdir(to, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(from, { withFileTypes: true })) {
      if (--left < 0) return false;
      const [name, copied] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory() ? !(await copy(name, copied)) : !(await tryLink(name, copied))) return false;
    }
    return true;
  };
  return copy(source, target);
}

function tryLink(source: string, target: string): Promise<boolean> {
  return link(source, target).then(
    () => true,
    () => false,
  );
}
