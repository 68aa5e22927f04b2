import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileLimits } from '../files.ts';
import type { GitContents, TreeEntry } from './entries.ts';
import type { Git } from './process.ts';
import { giveToGit } from './user.ts';

const repository = ['-C', 'repository'];

/** Makes a reader for the contents of a repository that was fetched into git's working directory. */
export function createContents(git: Git, directory: string, limits: FileLimits): GitContents {
  return {
    read: (objects) => readObjects(git, objects, limits),
    checkOut: (files, attributes) => checkOut(git, directory, files, attributes),
  };
}

/** Reads objects with `git cat-file --batch`. It prints for each a line `<id> <type> <size>`, the bytes, and a line end. */
async function readObjects(git: Git, objects: readonly string[], limits: FileLimits): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  if (objects.length === 0) return contents;
  const maximumOutput = limits.bytes + objects.length * 100;
  const input = objects.map((object) => `${object}\n`).join('');
  const output = await git([...repository, 'cat-file', '--batch'], { input, maximumOutput });
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [object = '', , size = ''] = output.subarray(at, end).toString().split(' ');
    const start = end + 1;
    contents.set(object, output.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return contents;
}

/**
 * Makes git write files from an index that contains only them and the attributes. No program of a filter is configured, so only git's own
 * conversions apply, and links are not among the files.
 */
async function checkOut(
  git: Git,
  directory: string,
  files: readonly TreeEntry[],
  attributes: readonly TreeEntry[],
): Promise<Map<string, Buffer>> {
  await mkdir(join(directory, 'files'));
  await giveToGit(directory);
  const listed = new Map([...files, ...attributes].map((entry) => [entry.path, entry]));
  const index = [...listed.values()].map(({ path, object }) => `100644 ${object}\t${path}\0`).join('');
  await git([...repository, 'update-index', '-z', '--add', '--index-info'], { input: index });
  const settings = ['-c', 'core.symlinks=false', '-c', 'core.protectNTFS=false'];
  await git([...repository, '--work-tree=../files', ...settings, 'checkout-index', '--quiet', '--all']);
  const written = new Map<string, Buffer>();
  for (const { path } of files) written.set(path, await readFile(join(directory, 'files', path)));
  return written;
}
