import { Unprocessable } from '#domain/shared/errors.ts';
import { checkFilePath, type FileLimits } from '../files.ts';
import { type LookUp, parentsOf, type Resolved, resolvePath } from '../links.ts';
import { CommitTree } from './commit-tree.ts';
import { contentOf, type GitContents, type TreeEntry } from './entries.ts';
import { checkLimits, quote } from './limits.ts';
import { localSources, pathsBeside } from './references.ts';

/** Chooses the files of a template from the tree of a commit. */

const maxDirectories = 200;
const maxLinkBytes = 4_096;
/** The maximum number of different paths outside their own directories that the files may name. Each is looked up in the repository. */
const maxNamed = 10_000;
/** The maximum number of left-out paths that are named. */
const maxLeftOut = 20;
const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n';

/**
 * The files that were chosen from a tree so far. Files that the template needs must be usable and within the limits. Names in strings need
 * not be paths, so they never make the template be refused: such files are chosen last, and unusable ones are left out.
 */
export class Selection {
  readonly links: Links;
  readonly #tree: CommitTree;
  readonly #limits: FileLimits;
  readonly #contents: GitContents;
  readonly #lookUp: LookUp;
  readonly #chosen = new Map<string, TreeEntry>();
  /** The chosen files that only strings name. */
  readonly #optional = new Set<string>();
  readonly #directories = new Set<string>();
  readonly #named = new Set<string>();
  readonly #sources = new Set<string>();
  /** Whether the usable files in a directory are within the limits, by directory. */
  readonly #fitting = new Map<string, boolean>();
  readonly #leftOut = new Set<string>();
  #bytes = 0;
  #unread: TreeEntry[] = [];

  constructor(tree: ReadonlyMap<string, TreeEntry>, links: Links, limits: FileLimits, contents: GitContents) {
    this.links = links;
    this.#tree = new CommitTree(tree);
    this.#limits = limits;
    this.#contents = contents;
    this.#lookUp = (path) => {
      const kind = tree.get(path)?.kind;
      if (kind === 'link') return { link: links.get(path) ?? '' };
      if (kind === 'file') return 'file';
      return this.#tree.hasDirectory(path) ? 'directory' : undefined;
    };
  }

  /** Directories and files that only strings name and that exceed the limits; only some of them if there are many. */
  get leftOut(): string[] {
    return [...this.#leftOut].filter((path) => !this.#chosen.has(path) && !this.#directories.has(path)).sort();
  }

  get entries(): TreeEntry[] {
    return [...this.#chosen.values()];
  }

  addDirectory(directory: string): void {
    if (this.#directories.has(directory)) return;
    this.#directories.add(directory);
    if (this.#directories.size > maxDirectories)
      throw new Unprocessable(`the template uses more than ${maxDirectories} modules`, {
        code: 'source_too_large',
      });
    this.#add([...this.#tree.below(directory)]);
  }

  /**
   * Adds the files that the chosen files need, directly or indirectly, and then those that they name in strings, directly or indirectly.
   */
  async complete(root: string): Promise<void> {
    const waiting = this.#named.values();
    for (;;) {
      await this.#readChosen(root);
      const next = waiting.next();
      if (next.done) return;
      const found = resolvePath(next.value, this.#lookUp);
      if (found !== null) this.#addOptional(found);
    }
  }

  async #readChosen(root: string): Promise<void> {
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
    if (this.#optional.has(link)) {
      if (found === null || !this.#addOptional(found)) this.#drop(link);
      return;
    }
    if (found === null)
      throw new Unprocessable(`the link ${quote(link)} must lead to a file or a directory in the repository`, {
        code: 'source_file_unusable',
      });
    this.#addFound(found);
  }

  #addNeeded(path: string, content: Buffer, root: string): void {
    const isOptional = this.#optional.has(path);
    if (isLfs(content)) {
      if (!isOptional) refuseLfs(path);
      this.#drop(path);
      return;
    }
    for (const source of localSources(path, content)) {
      // A module that only strings name may also be required by another module.
      const place = `${isOptional} ${source}`;
      if (this.#sources.has(place)) continue;
      remember(this.#sources, place);
      const submodule = [...parentsOf(source), source].find((each) => this.#tree.get(each)?.kind === 'submodule');
      if (submodule !== undefined && !isOptional) refuseSubmodule(submodule);
      const found = resolvePath(source, this.#lookUp);
      if (found?.kind !== 'directory') continue;
      if (isOptional) this.#addOptional(found);
      else this.#addFound(found);
    }
    for (const named of pathsBeside(path, content, root)) remember(this.#named, named);
  }

  /** Adds the usable part of a found file or directory. Returns whether it is within the limits. */
  #addOptional({ path, kind, links }: Resolved): boolean {
    const known = kind === 'directory' ? this.#fitting.get(path) : undefined;
    if (known === false) return false;
    const passed = (kind === 'file' ? [...links, path] : links).flatMap((each) => this.#tree.get(each) ?? []);
    const isNew = kind === 'directory' && known === undefined;
    const added = this.#fittingOf(isNew ? joined(passed, this.#tree.below(path)) : passed);
    if (isNew) this.#fitting.set(path, added !== null);
    if (added !== null) this.#choose(added, true);
    else if (this.#leftOut.size < maxLeftOut) this.#leftOut.add(path);
    return added !== null;
  }

  /** Those that are not chosen yet and can be used; null if they exceed the limits. Stops where they do. */
  #fittingOf(entries: Iterable<TreeEntry>): TreeEntry[] | null {
    const added: TreeEntry[] = [];
    let bytes = this.#bytes;
    for (const entry of entries) {
      if (this.#chosen.has(entry.path) || problemOf(entry) !== null) continue;
      added.push(entry);
      bytes += entry.size;
      if (this.#chosen.size + added.length > this.#limits.files || bytes > this.#limits.bytes) return null;
    }
    return added;
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
    }
    this.#choose(added, false);
    if (added.length > 0) checkLimits(this.entries, this.#limits);
  }

  #choose(entries: readonly TreeEntry[], isOptional: boolean): void {
    for (const entry of entries) {
      this.#chosen.set(entry.path, entry);
      this.#bytes += entry.size;
      if (isOptional) this.#optional.add(entry.path);
    }
    this.#unread.push(...entries);
  }

  #drop(path: string): void {
    this.#bytes -= this.#chosen.get(path)?.size ?? 0;
    this.#chosen.delete(path);
  }
}

/** @throws Unprocessable if the files name more paths than the service can look up in a short time */
function remember(named: Set<string>, path: string): void {
  named.add(path);
  if (named.size <= maxNamed) return;
  const message = `the files name more than ${maxNamed} paths beside their directories`;
  throw new Unprocessable(message, { code: 'source_too_large' });
}

function* joined<Item>(...lists: Iterable<Item>[]): Generator<Item> {
  for (const list of lists) yield* list;
}

/** The targets of links, by the paths of the links. */
export type Links = ReadonlyMap<string, string>;

export async function readLinks(tree: ReadonlyMap<string, TreeEntry>, { read }: GitContents): Promise<Links> {
  const links = [...tree.values()].filter(({ kind, size }) => kind === 'link' && size <= maxLinkBytes);
  const objects = await read([...new Set(links.map(({ object }) => object))]);
  return new Map(links.map(({ path, object }) => [path, contentOf(objects, object).toString()]));
}

function isLfs(content: Buffer): boolean {
  return content.subarray(0, lfsPointer.length).toString('latin1') === lfsPointer;
}

function refuseLfs(path: string): never {
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
