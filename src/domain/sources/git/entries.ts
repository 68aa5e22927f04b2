/** The entries of a commit's tree, and their contents. */

export type TreeEntry = {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'submodule';
  readonly isExecutable: boolean;
  /** Git's id of the content. */
  readonly object: string;
  readonly size: number;
};

export interface GitContents {
  /** The contents of objects as git keeps them, by their ids. */
  read(objects: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The contents of files as a checkout writes them, by their paths: `attributes` decide on line ends and encodings. */
  checkOut(files: readonly TreeEntry[], attributes: readonly TreeEntry[]): Promise<ReadonlyMap<string, Buffer>>;
}

/** Parses the output of `git ls-tree -r -z -l --full-tree`. */
export function parseTree(listing: Buffer): Map<string, TreeEntry> {
  const entries = listing
    .toString()
    .split('\0')
    .filter((line) => line !== '');
  return new Map(entries.map(parseEntry).map((entry) => [entry.path, entry]));
}

export function contentOf(contents: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const content = contents.get(name);
  if (content === undefined) throw new Error(`git printed no content for ${name}`);
  return content;
}

function parseEntry(line: string): TreeEntry {
  const [, mode, object, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
  if (mode === undefined || object === undefined || path === undefined)
    throw new Error('git printed a line that is not a tree entry');
  const kind = mode === '120000' ? 'link' : mode === '160000' ? 'submodule' : 'file';
  return { path, kind, isExecutable: mode === '100755', object, size: size === '-' ? 0 : Number(size) };
}
