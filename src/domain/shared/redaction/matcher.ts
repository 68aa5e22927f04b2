const root = 0;
const bytes = 256;
const lineFeed = 0x0a;
const space = 0x20;

/**
 * Finds any of many byte strings in one pass over a stream (the Aho-Corasick automaton). Children are linked lists: nearly
 * every state has one child, and a dense table would take a kilobyte for each byte of a pattern. A line feed counts as a space, because the
 * tools wrap what they print at spaces.
 */
export class PatternMatcher {
  /** Whether there are no patterns. */
  readonly isEmpty: boolean;
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #byte: Uint8Array;
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  /** Length of the longest pattern that ends in a state; 0 if none does. */
  readonly #match: Int32Array;
  readonly #fromRoot = new Int32Array(bytes);
  #states = 1;

  constructor(patterns: readonly Buffer[]) {
    const size = patterns.reduce((sum, pattern) => sum + pattern.length, 1);
    this.isEmpty = size === 1;
    this.#first = new Int32Array(size);
    this.#next = new Int32Array(size);
    this.#byte = new Uint8Array(size);
    this.#fail = new Int32Array(size);
    this.#depth = new Int32Array(size);
    this.#match = new Int32Array(size);
    for (const pattern of patterns) this.#insert(pattern);
    this.#linkFailures();
  }

  /** Returns the state after one more byte. Matching begins in state 0. */
  step(state: number, given: number): number {
    const byte = given === lineFeed ? space : given;
    let current = state;
    while (current !== root) {
      const child = this.#childOf(current, byte);
      if (child !== 0) return child;
      current = this.#fail[current] ?? root;
    }
    return this.#fromRoot[byte] ?? root;
  }

  /** Length of the longest pattern that ends here; 0 if none does. */
  matchedAt(state: number): number {
    return this.#match[state] ?? 0;
  }

  /** How many of the last bytes may begin a pattern. */
  heldAt(state: number): number {
    return this.#depth[state] ?? 0;
  }

  #childOf(state: number, byte: number): number {
    let child = this.#first[state] ?? 0;
    while (child !== 0 && this.#byte[child] !== byte) child = this.#next[child] ?? 0;
    return child;
  }

  #insert(pattern: Buffer): void {
    let state = root;
    for (const given of pattern) {
      const byte = given === lineFeed ? space : given;
      const known = state === root ? (this.#fromRoot[byte] ?? 0) : this.#childOf(state, byte);
      state = known === 0 ? this.#addChild(state, byte) : known;
    }
    this.#match[state] = pattern.length;
  }

  #addChild(parent: number, byte: number): number {
    const child = this.#states++;
    this.#byte[child] = byte;
    this.#depth[child] = (this.#depth[parent] ?? 0) + 1;
    this.#next[child] = this.#first[parent] ?? 0;
    this.#first[parent] = child;
    if (parent === root) this.#fromRoot[byte] = child;
    return child;
  }

  /** Visits the states breadth first, so that the fallback of a state is complete before the state itself. */
  #linkFailures(): void {
    const queue = new Int32Array(this.#states);
    let end = 0;
    for (let child = this.#first[root] ?? 0; child !== 0; child = this.#next[child] ?? 0) queue[end++] = child;
    for (let index = 0; index < end; index++) {
      const state = queue[index] ?? root;
      for (let child = this.#first[state] ?? 0; child !== 0; child = this.#next[child] ?? 0) {
        const fail = this.step(this.#fail[state] ?? root, this.#byte[child] ?? 0);
        this.#fail[child] = fail;
        if (this.#match[child] === 0) this.#match[child] = this.#match[fail] ?? 0;
        queue[end++] = child;
      }
    }
  }
}
