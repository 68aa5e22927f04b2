import { Unprocessable } from '#domain/shared/errors.ts';
import { checkFilePath, type FileLimits } from '../files.ts';
import { type LookUp, parentsOf, type Resolved, resolvePath } from '../links.ts';
import { contentOf, type GitContents, type TreeEntry } from './entries.ts';
import { checkLimits, fitLimits, quote } from './limits.ts';
import { localSources, pathsBeside } from './references.ts';

/** Chooses the files of a template from the tree of a commit. */

const maximumDirectories = 200;
const largestLink = 4_096;
const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n';
/** What `init` writes. It makes its own in every run. */
const leftOut = /(^|\/)\.terraform\//;

/**
 * The files that were chosen from a tree so far. What the template needs must be usable and within the limits. What only strings name need not be a
 * path, so nothing of it refuses the template: it is chosen last, and what cannot be used is left out.
 */
export class Selection {
  readonly links: Links;
  readonly #tree: ReadonlyMap<string, TreeEntry>;
  readonly #limits: FileLimits;
  readonly #contents: GitContents;
  readonly #lookUp: LookUp;
  readonly #chosen = new Map<string, TreeEntry>();
  /** Those of the chosen ones that only strings name. */
  readonly #optional = new Set<string>();
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

  /** Adds what the chosen files need, and what that needs; then what they name, and what that names. */
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
      if (found === null || !this.#addOptional(found)) this.#chosen.delete(link);
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
      this.#chosen.delete(path);
      return;
    }
    for (const source of localSources(path, content)) {
      const submodule = [...parentsOf(source), source].find((each) => this.#tree.get(each)?.kind === 'submodule');
      if (submodule !== undefined && !isOptional) refuseSubmodule(submodule);
      const found = resolvePath(source, this.#lookUp);
      if (found?.kind !== 'directory') continue;
      if (isOptional) this.#addOptional(found);
      else this.#addFound(found);
    }
    for (const named of pathsBeside(path, content, root)) this.#named.add(named);
  }

  /** Adds what can be used of what was found. Returns whether it fits. */
  #addOptional({ path, kind, links }: Resolved): boolean {
    const found = [...links, path].flatMap((each) => this.#tree.get(each) ?? []);
    const all = kind === 'directory' ? [...found, ...entriesBelow(this.#tree, path)] : found;
    const added = all.filter((entry) => !this.#chosen.has(entry.path) && problemOf(entry) === null);
    const fits = fitLimits([...this.entries, ...added], this.#limits);
    if (fits) this.#choose(added, true);
    return fits;
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
    checkLimits(this.entries, this.#limits);
  }

  #choose(entries: readonly TreeEntry[], isOptional: boolean): void {
    for (const entry of entries) {
      this.#chosen.set(entry.path, entry);
      if (isOptional) this.#optional.add(entry.path);
    }
    this.#unread.push(...entries);
  }
}

/** What links lead to, by their paths. */
export type Links = ReadonlyMap<string, string>;

export async function readLinks(tree: ReadonlyMap<string, TreeEntry>, { read }: GitContents): Promise<Links> {
  const links = [...tree.values()].filter(({ kind, size }) => kind === 'link' && size <= largestLink);
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

function entriesBelow(tree: ReadonlyMap<string, TreeEntry>, directory: string): TreeEntry[] {
  const prefix = directory === '' ? '' : `${directory}/`;
  return [...tree.values()].filter(({ path }) => path.startsWith(prefix) && !leftOut.test(path));
}
