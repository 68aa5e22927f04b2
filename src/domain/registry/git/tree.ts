import { posix } from 'node:path';
import { Unprocessable } from '#domain/shared/errors.ts';
import { checkFilePath, type FileContent, type FileLimits, isStorableText, type TemplateFiles } from '../files.ts';

/** Selects and reads the files of a template from a commit. Only `read` has side effects. */

export type TreeEntry = {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'submodule';
  /** Git's id of the content. */
  readonly object: string;
  readonly size: number;
};

export type ReadObjects = (objects: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;

const maximumHops = 8;
const maximumDirectories = 200;
const largestLink = 4_096;
const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n';
/** Where a module refers to another one by a relative path: `source = "../network"`, in HCL or in JSON. */
const localSource = /\bsource"?\s{0,200}[=:]\s{0,200}"(\.{1,2}(?:\/[^"\n]{0,500})?)"/g;

/** Parses the output of `git ls-tree -r -z -l --full-tree`. */
export function parseTree(listing: Buffer): Map<string, TreeEntry> {
  const entries = listing
    .toString()
    .split('\0')
    .filter((line) => line !== '');
  return new Map(entries.map(parseEntry).map((entry) => [entry.path, entry]));
}

/**
 * The files below a directory and below every local module that they refer to and that the repository has. They keep their paths
 * in the repository, so that relative references between modules stay valid.
 * @throws Unprocessable naming the file that cannot be part of a template
 */
export async function collectFiles(
  tree: ReadonlyMap<string, TreeEntry>,
  directory: string,
  limits: FileLimits,
  read: ReadObjects,
): Promise<TemplateFiles> {
  const roots = new Set([directory]);
  const contents = new Map<string, Buffer>();
  for (const root of roots) {
    const entries = entriesBelow(tree, root).filter(({ path }) => !contents.has(path));
    if (entries.length === 0 && root === directory)
      throw new Unprocessable(explainMissing(tree, directory), { code: 'source_path_missing' });
    checkLimits(contents, entries, limits);
    for (const [path, content] of await readEntries(tree, entries, read)) {
      contents.set(path, content);
      for (const source of localSources(path, content)) roots.add(source);
      if (roots.size > maximumDirectories)
        throw new Unprocessable(`the template uses more than ${maximumDirectories} modules`, {
          code: 'source_too_large',
        });
    }
    checkLimits(contents, [], limits);
  }
  return Object.fromEntries([...contents].map(([path, content]) => [path, encode(content)]));
}

async function readEntries(
  tree: ReadonlyMap<string, TreeEntry>,
  entries: readonly TreeEntry[],
  read: ReadObjects,
): Promise<[string, Buffer][]> {
  for (const entry of entries) checkEntry(entry);
  const targets = await followLinks(tree, entries, read);
  const objects = await read([...new Set([...targets.values()].map(({ object }) => object))]);
  return [...targets].map(([path, { object }]) => {
    const content = contentOf(objects, object);
    if (content.subarray(0, lfsPointer.length).toString('latin1') === lfsPointer) {
      throw new Unprocessable(`${quote(path)} is kept in Git LFS, which a template cannot use`, {
        code: 'source_file_unusable',
      });
    }
    return [path, content];
  });
}

function checkEntry({ path, kind }: TreeEntry): void {
  const message = checkFilePath(path);
  if (message !== null) throw new Unprocessable(`the file ${quote(path)} ${message}`, { code: 'source_file_unusable' });
  if (path.includes('\ufffd'))
    throw new Unprocessable(`the name of the file ${quote(path)} is not UTF-8`, { code: 'source_file_unusable' });
  if (kind === 'submodule')
    throw new Unprocessable(`${quote(path)} is a submodule, which a template cannot use`, {
      code: 'source_file_unusable',
    });
}

/** The file of each path. A symbolic link is replaced by the file of the repository that it finally leads to. */
async function followLinks(
  tree: ReadonlyMap<string, TreeEntry>,
  entries: readonly TreeEntry[],
  read: ReadObjects,
): Promise<Map<string, TreeEntry>> {
  const found = new Map(entries.map((entry) => [entry.path, entry]));
  for (let hop = 0; ; hop++) {
    const links = [...found].filter(([, { kind }]) => kind === 'link');
    if (links.length === 0) return found;
    const isReadable = hop < maximumHops && links.every(([, { size }]) => size <= largestLink);
    const texts = isReadable ? await read(links.map(([, { object }]) => object)) : new Map<string, Buffer>();
    for (const [path, link] of links) {
      const next = isReadable ? targetOf(tree, link, contentOf(texts, link.object).toString()) : undefined;
      if (next === undefined)
        throw new Unprocessable(`the link ${quote(path)} must lead to a file in the repository`, {
          code: 'source_file_unusable',
        });
      found.set(path, next);
    }
  }
}

function targetOf(tree: ReadonlyMap<string, TreeEntry>, link: TreeEntry, text: string): TreeEntry | undefined {
  const target = tree.get(posix.normalize(posix.join(posix.dirname(link.path), text)));
  return text.startsWith('/') || target?.kind === 'submodule' ? undefined : target;
}

function contentOf(objects: ReadonlyMap<string, Buffer>, object: string): Buffer {
  const content = objects.get(object);
  if (content === undefined) throw new Error(`git answered no object ${object}`);
  return content;
}

function localSources(path: string, content: Buffer): string[] {
  if (!/\.(tf|tofu)(\.json)?$/.test(path)) return [];
  const sources = [...content.toString().matchAll(localSource)].map(([, source = '']) => source.split('//')[0] ?? '');
  const directories = sources.map((source) => posix.normalize(posix.join(posix.dirname(path), source)));
  return directories.map(trimDirectory).filter((directory) => directory !== '..' && !directory.startsWith('../'));
}

function entriesBelow(tree: ReadonlyMap<string, TreeEntry>, directory: string): TreeEntry[] {
  if (directory === '') return [...tree.values()];
  return [...tree.values()].filter(({ path }) => path.startsWith(`${directory}/`));
}

function checkLimits(contents: ReadonlyMap<string, Buffer>, more: readonly TreeEntry[], limits: FileLimits): void {
  const files = contents.size + more.length;
  const read = [...contents.values()].reduce((sum, content) => sum + content.length, 0);
  const bytes = more.reduce((sum, { size }) => sum + size, read);
  if (files <= limits.files && bytes <= limits.bytes) return;
  const most = `${limits.files} files and ${Math.floor(limits.bytes / 1024 / 1024)} MiB`;
  throw new Unprocessable(`the template has more than ${most}: name its own directory as "path", or move files out`, {
    code: 'source_too_large',
  });
}

function explainMissing(tree: ReadonlyMap<string, TreeEntry>, directory: string): string {
  if (directory === '') return 'the repository has no files';
  if (tree.has(directory)) return `${quote(directory)} is a file: "path" names a directory`;
  return `the repository has no directory ${quote(directory)}`;
}

function encode(content: Buffer): FileContent {
  const text = content.toString();
  const isText = isStorableText(text) && Buffer.from(text).equals(content);
  return isText ? text : { base64: content.toString('base64') };
}

function parseEntry(line: string): TreeEntry {
  const [, mode, object, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
  if (mode === undefined || object === undefined || path === undefined)
    throw new Error('git printed a line that is not a tree entry');
  const kind = mode === '120000' ? 'link' : mode === '160000' ? 'submodule' : 'file';
  return { path, kind, object, size: size === '-' ? 0 : Number(size) };
}

function trimDirectory(directory: string): string {
  return directory === '.' || directory === './' ? '' : directory.replace(/\/+$/, '');
}

function quote(path: string): string {
  return JSON.stringify(path.length <= 200 ? path : `${path.slice(0, 200)}…`);
}
