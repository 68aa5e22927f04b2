import type { TreeEntry } from './entries.ts';

/** The directory that `init` writes. Every run creates its own. */
const leftOut = /(^|\/)\.terraform\//;

/** The entries of a commit, sorted so that those below a directory are found without scanning all others. */
export class CommitTree {
  readonly #entries: ReadonlyMap<string, TreeEntry>;
  readonly #sorted: readonly string[];

  constructor(entries: ReadonlyMap<string, TreeEntry>) {
    this.#entries = entries;
    this.#sorted = [...entries.keys()].sort();
  }

  get(path: string): TreeEntry | undefined {
    return this.#entries.get(path);
  }

  hasDirectory(path: string): boolean {
    return this.#sorted[this.#firstFrom(`${path}/`)]?.startsWith(`${path}/`) ?? false;
  }

  /** The entries below a directory (`''`: the root), without those that `init` writes. */
  *below(directory: string): Generator<TreeEntry> {
    const prefix = directory === '' ? '' : `${directory}/`;
    for (let index = this.#firstFrom(prefix); this.#sorted[index]?.startsWith(prefix); index++) {
      const entry = this.#entries.get(this.#sorted[index] ?? '');
      if (entry && !leftOut.test(entry.path)) yield entry;
    }
  }

  /** The index of the first path that is not sorted before `path`. */
  #firstFrom(path: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? '') < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
