import { posix } from 'node:path';
import { Unprocessable } from '#domain/shared/errors.ts';
import { checkFilePath, type FileContent, type FileLimits, isStorableText, type TemplateFiles } from '../files.ts';
import { type LookUp, parentsOf, type Resolved, resolvePath } from '../links.ts';
import { checkLimits, fitLimits, quote } from './limits.ts';
import { localSources, pathsBeside } from './references.ts';

/** Selects and reads the files of a template from a commit. Only `read` and `checkOut` have side effects. */

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

const maximumDirectories = 200;
const largestLink = 4_096;
const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n';
/** What `init` writes. It makes its own in every run. */
const leftOut = /(^|\/)\.terraform\//;

/** Parses the output of `git ls-tree -r -z -l --full-tree`. */
export function parseTree(listing: Buffer): Map<string, TreeEntry> {
  const entries = listing
    .toString()
    .split('\0')
    .filter((line) => line !== '');
  return new Map(entries.map(parseEntry).map((entry) => [entry.path, entry]));
}

/**
 * The files below a directory, those of every local module that they refer to, what links lead to, and what strings of the configuration name by
 * a path with `..`. They keep their paths in the repository, so that relative references stay valid.
 * @throws Unprocessable naming the file that cannot be part of a template, or the limit that is exceeded
 */
export async function collectFiles(
  tree: ReadonlyMap<string, TreeEntry>,
  directory: string,
  limits: FileLimits,
  contents: GitContents,
): Promise<TemplateFiles> {
  const selection = new Selection(tree, await readLinks(tree, contents), limits, contents);
  selection.addDirectory(directory);
  if (selection.entries.length === 0)
    throw new Unprocessable(explainMissing(tree, directory), { code: 'source_path_missing' });
  await selection.complete(directory);
  return encodeAll(selection.entries, tree, { limits, contents, links: selection.links });
}

/** The files that were chosen from a tree so far. */
class Selection {
  readonly links: Links;
  readonly #tree: ReadonlyMap<string, TreeEntry>;
  readonly #limits: FileLimits;
  readonly #contents: GitContents;
  readonly #lookUp: LookUp;
  readonly #chosen = new Map<string, TreeEntry>();
  readonly #directories = new Set<string>();
  readonly #named = new Set<string>();
  #unread: TreeEntry[] = [];

  constructor(tree: ReadonlyMap<string, TreeEntry>, links: Links, limits: FileLimits, contents: GitContents) {
    this.links = links;
    this.#tree = tree;
    this.#limits = limits;
    this.#contents = contents;
    const directories = new Set([...tree.keys()].flatMap(parentsOf));
    this.#lookUp = (path) => {
      const kind = tree.get(path)?.kind;
      if (kind === 'link') return { link: links.get(path) ?? '' };
      if (kind === 'file') return 'file';
      return directories.has(path) ? 'directory' : undefined;
    };
  }

  get entries(): TreeEntry[] {
    return [...this.#chosen.values()];
  }

  addDirectory(directory: string): void {
    if (this.#directories.has(directory)) return;
    this.#directories.add(directory);
    if (this.#directories.size > maximumDirectories)
      throw new Unprocessable(`the template uses more than ${maximumDirectories} modules`, {
        code: 'source_too_large',
      });
    this.#add(entriesBelow(this.#tree, directory));
  }

  /** Adds what the chosen files need, and what that needs. */
  async complete(root: string): Promise<void> {
    while (this.#unread.length > 0) {
      const entries = this.#unread;
      this.#unread = [];
      for (const { path } of entries.filter(({ kind }) => kind === 'link')) this.#addTarget(path);
      const files = entries.filter(({ kind }) => kind === 'file');
      const objects = await this.#contents.read([...new Set(files.map(({ object }) => object))]);
      for (const { path, object } of files) this.#addNeeded(path, contentOf(objects, object), root);
    }
  }

  #addTarget(link: string): void {
    const found = resolvePath(link, this.#lookUp);
    if (found === null)
      throw new Unprocessable(`the link ${quote(link)} must lead to a file or a directory in the repository`, {
        code: 'source_file_unusable',
      });
    this.#addFound(found);
  }

  #addNeeded(path: string, content: Buffer, root: string): void {
    refuseLfs(path, content);
    for (const source of localSources(path, content)) {
      const submodule = [...parentsOf(source), source].find((each) => this.#tree.get(each)?.kind === 'submodule');
      if (submodule !== undefined) refuseSubmodule(submodule);
      const found = resolvePath(source, this.#lookUp);
      if (found?.kind === 'directory') this.#addFound(found);
    }
    for (const named of pathsBeside(path, content, root)) this.#addNamed(named);
  }

  /** A string need not be a path. So a directory that does not fit is left out, and the tool names the file that it misses. */
  #addNamed(path: string): void {
    if (this.#named.has(path)) return;
    this.#named.add(path);
    const found = resolvePath(path, this.#lookUp);
    if (found === null) return;
    const entries = found.kind === 'directory' ? entriesBelow(this.#tree, found.path) : [];
    const all = new Map([...this.#chosen, ...entries.map((entry) => [entry.path, entry] as const)]);
    if (entries.every((entry) => problemOf(entry) === null) && fitLimits([...all.values()], this.#limits)) {
      this.#addFound(found);
    }
  }

  #addFound({ path, kind, links }: Resolved): void {
    const passed = kind === 'file' ? [...links, path] : links;
    this.#add(passed.flatMap((each) => this.#tree.get(each) ?? []));
    if (kind === 'directory') this.addDirectory(path);
  }

  #add(entries: readonly TreeEntry[]): void {
    const added = entries.filter(({ path }) => !this.#chosen.has(path));
    for (const entry of added) {
      const problem = problemOf(entry);
      if (problem !== null) throw new Unprocessable(problem, { code: 'source_file_unusable' });
      this.#chosen.set(entry.path, entry);
      this.#unread.push(entry);
    }
    checkLimits(this.entries, this.#limits);
  }
}

/** What links lead to, by their paths. */
type Links = ReadonlyMap<string, string>;

async function readLinks(tree: ReadonlyMap<string, TreeEntry>, { read }: GitContents): Promise<Links> {
  const links = [...tree.values()].filter(({ kind, size }) => kind === 'link' && size <= largestLink);
  const objects = await read([...new Set(links.map(({ object }) => object))]);
  return new Map(links.map(({ path, object }) => [path, contentOf(objects, object).toString()]));
}

interface Encoding {
  readonly limits: FileLimits;
  readonly contents: GitContents;
  readonly links: Links;
}

/** The files as a checkout writes them. */
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

/** The files of attributes that apply to some of the files. */
function attributesOf(tree: ReadonlyMap<string, TreeEntry>, files: readonly TreeEntry[]): TreeEntry[] {
  const directories = new Set(files.flatMap(({ path }) => ['', ...parentsOf(path)]));
  return [...directories].flatMap((directory) => {
    const entry = tree.get(posix.join(directory, '.gitattributes'));
    return entry?.kind === 'file' ? [entry] : [];
  });
}

function refuseLfs(path: string, content: Buffer): void {
  if (content.subarray(0, lfsPointer.length).toString('latin1') !== lfsPointer) return;
  throw new Unprocessable(`${quote(path)} is kept in Git LFS, which a template cannot use`, {
    code: 'source_file_unusable',
  });
}

function refuseSubmodule(path: string): never {
  throw new Unprocessable(submoduleProblem(path), { code: 'source_file_unusable' });
}

function submoduleProblem(path: string): string {
  return `${quote(path)} is a submodule, which a template cannot use`;
}

/** Why an entry cannot be a file of a template; null if it can. */
function problemOf({ path, kind }: TreeEntry): string | null {
  const message = checkFilePath(path);
  if (message !== null) return `the file ${quote(path)} ${message}`;
  if (path.includes('\ufffd')) return `the name of the file ${quote(path)} is not UTF-8`;
  return kind === 'submodule' ? submoduleProblem(path) : null;
}

function contentOf(contents: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const content = contents.get(name);
  if (content === undefined) throw new Error(`git answered no content of ${name}`);
  return content;
}

function entriesBelow(tree: ReadonlyMap<string, TreeEntry>, directory: string): TreeEntry[] {
  const prefix = directory === '' ? '' : `${directory}/`;
  return [...tree.values()].filter(({ path }) => path.startsWith(prefix) && !leftOut.test(path));
}

function explainMissing(tree: ReadonlyMap<string, TreeEntry>, directory: string): string {
  if (directory === '') return 'the repository has no files';
  if (tree.has(directory)) return `${quote(directory)} is a file: "path" names a directory`;
  return `the repository has no directory ${quote(directory)}`;
}

/** The mode is kept where the content alone says another. */
function encode(content: Buffer, isExecutable: boolean): FileContent {
  const text = content.toString();
  const isText = isStorableText(text) && Buffer.from(text).equals(content);
  const hasMode = isExecutable !== (content.subarray(0, 2).toString('latin1') === '#!');
  const mode = hasMode ? { executable: isExecutable } : {};
  if (!isText) return { base64: content.toString('base64'), ...mode };
  return hasMode ? { text, ...mode } : text;
}

function parseEntry(line: string): TreeEntry {
  const [, mode, object, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
  if (mode === undefined || object === undefined || path === undefined)
    throw new Error('git printed a line that is not a tree entry');
  const kind = mode === '120000' ? 'link' : mode === '160000' ? 'submodule' : 'file';
  return { path, kind, isExecutable: mode === '100755', object, size: size === '-' ? 0 : Number(size) };
}
