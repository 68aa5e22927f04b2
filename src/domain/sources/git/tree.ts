import { posix } from 'node:path';
import { Unprocessable } from '#domain/shared/errors.ts';
import { type FileContent, type FileLimits, hasShebang, isStorableText, type TemplateFiles } from '../files.ts';
import { parentsOf } from '../links.ts';
import { contentOf, type GitContents, type TreeEntry } from './entries.ts';
import { checkLimits, quote } from './limits.ts';
import { type Links, readLinks, Selection } from './selection.ts';

/** Reads the files of a template from a commit. Only `read` and `checkOut` have side effects. */

/** The files of a template in a commit. */
export interface CollectedFiles {
  /** By their paths in the repository. */
  readonly files: TemplateFiles;
  /** At most 20 paths that strings of the files name and that were left out because the files would otherwise exceed the limits. */
  readonly leftOut: readonly string[];
}

/**
 * The files below a directory, those of every local module that they refer to, the targets of links, and what strings of the configuration
 * name by a path with `..`. They keep their paths in the repository, so that relative references stay valid.
 * @throws Unprocessable naming the file that cannot be part of a template, or the limit that is exceeded
 */
export async function collectFiles(
  tree: ReadonlyMap<string, TreeEntry>,
  directory: string,
  limits: FileLimits,
  contents: GitContents,
): Promise<CollectedFiles> {
  const selection = new Selection(tree, await readLinks(tree, contents), limits, contents);
  selection.addDirectory(directory);
  if (selection.entries.length === 0)
    throw new Unprocessable(explainMissing(tree, directory), { code: 'source_path_missing' });
  await selection.complete(directory);
  const files = await encodeAll(selection.entries, tree, { limits, contents, links: selection.links });
  return { files, leftOut: selection.leftOut };
}

interface Encoding {
  readonly limits: FileLimits;
  readonly contents: GitContents;
  readonly links: Links;
}

/** Returns the files with the contents that a checkout would write. */
async function encodeAll(
  entries: readonly TreeEntry[],
  tree: ReadonlyMap<string, TreeEntry>,
  { limits, contents, links }: Encoding,
): Promise<TemplateFiles> {
  const files = entries.filter(({ kind }) => kind === 'file');
  const attributes = attributesOf(tree, files);
  const written = await (attributes.length === 0 ? readAll(files, contents) : contents.checkOut(files, attributes));
  checkLimits(
    entries.map(({ path, size }) => ({ path, size: written.get(path)?.length ?? size })),
    limits,
  );
  const encoded = entries.map(({ path, kind, isExecutable }): [string, FileContent] => [
    path,
    kind === 'link' ? { link: links.get(path) ?? '' } : encode(contentOf(written, path), isExecutable),
  ]);
  return Object.fromEntries(encoded);
}

async function readAll(files: readonly TreeEntry[], { read }: GitContents): Promise<Map<string, Buffer>> {
  const objects = await read([...new Set(files.map(({ object }) => object))]);
  return new Map(files.map(({ path, object }) => [path, contentOf(objects, object)]));
}

/** The `.gitattributes` files that apply to any of the files. */
function attributesOf(tree: ReadonlyMap<string, TreeEntry>, files: readonly TreeEntry[]): TreeEntry[] {
  const directories = new Set(files.flatMap(({ path }) => ['', ...parentsOf(path)]));
  return [...directories].flatMap((directory) => {
    const entry = tree.get(posix.join(directory, '.gitattributes'));
    return entry?.kind === 'file' ? [entry] : [];
  });
}

function explainMissing(tree: ReadonlyMap<string, TreeEntry>, directory: string): string {
  if (directory === '') return 'the repository has no files';
  if (tree.has(directory)) return `${quote(directory)} is a file: "path" names a directory`;
  return `the repository has no directory ${quote(directory)}`;
}

/** It stores the mode only if the content alone suggests another one. */
function encode(content: Buffer, isExecutable: boolean): FileContent {
  const text = content.toString();
  const isText = isStorableText(text) && Buffer.from(text).equals(content);
  const hasMode = isExecutable !== hasShebang(content);
  const mode = hasMode ? { executable: isExecutable } : {};
  if (!isText) return { base64: content.toString('base64'), ...mode };
  return hasMode ? { text, ...mode } : text;
}
