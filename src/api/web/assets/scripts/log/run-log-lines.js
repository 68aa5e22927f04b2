// Caches the lines that were read last, and requests others from the service. The cache is bounded, however long the log is.

/**
 * @typedef {string | readonly (readonly [text: string, classes: string])[]} Spans
 * @typedef {readonly [number: number, stream: string, time: number, spans: Spans, cut: number]} Line
 * @typedef {{ lines: readonly Line[], to: number, total: number, complete: boolean,
 *   hasLostColours: boolean, sections: readonly import('./run-log-rows.js').Section[] }} Part
 */

const blockSize = 250;
const maxBlocks = 48;
/** The shortest pause between requests. A reader who drags the scrollbar passes many lines without reading them. */
const pauseMs = 40;

export class LogLines {
  /** @type {Map<number, Map<number, Line | null>>} */
  #blocks = new Map();
  #url;
  #onPart;
  #onFailure;
  /** @type {{ first: number, last: number } | null} */
  #wanted = null;
  #isLoading = false;
  total = 0;

  /** @param {string} url @param {(part: Part) => void} onPart @param {() => void} onFailure */
  constructor(url, onPart, onFailure) {
    this.#url = url;
    this.#onPart = onPart;
    this.#onFailure = onFailure;
  }

  /** A line; null if it is missing in the log, and undefined if it has not been read. @param {number} number */
  get(number) {
    return this.#blocks.get(blockOf(number))?.get(number);
  }

  /** Adds lines that were read from one number on. @param {Part} part @param {number} from */
  add(part, from) {
    for (let number = from; number <= part.to; number++) {
      // A line is known to be missing only if it was requested.
      if (this.get(number) === undefined) this.#blockWith(number).set(number, null);
    }
    for (const line of part.lines) this.#blockWith(line[0]).set(line[0], line);
    this.#forgetOldest();
  }

  /** Reads the unknown lines of a range, after the request that is running now. @param {number} first @param {number} last */
  want(first, last) {
    for (const block of new Set([blockOf(first), blockOf(last)])) this.#touch(block);
    this.#wanted = { first, last };
    if (!this.#isLoading) void this.#load();
  }

  async #load() {
    this.#isLoading = true;
    for (let gap = this.#findGap(); gap !== null; gap = this.#findGap()) {
      try {
        const answer = await fetch(`${this.#url}?from=${gap.from}&limit=${gap.limit}`, {
          headers: { 'hx-request': 'true' },
        });
        if (!answer.ok) throw new Error(`the log answered ${answer.status}`);
        const part = /** @type {Part} */ (await answer.json());
        this.add(part, gap.from);
        this.#onPart(part);
        if (part.to < gap.from) break;
        await wait(pauseMs);
      } catch {
        this.#onFailure();
        await wait(5_000);
      }
    }
    this.#isLoading = false;
  }

  /** The next blocks to read, from the first unknown line of the wanted range. */
  #findGap() {
    if (!this.#wanted) return null;
    const { first, last } = this.#wanted;
    for (let number = first; number <= Math.min(last, this.total); number++) {
      if (this.get(number) !== undefined) continue;
      const begin = blockOf(number) * blockSize + 1;
      const from = this.get(begin) === undefined ? begin : number;
      const end = (blockOf(Math.min(last, this.total)) + 1) * blockSize;
      return { from, limit: Math.min(1000, end - from + 1) };
    }
    return null;
  }

  /** @param {number} number */
  #blockWith(number) {
    const index = blockOf(number);
    const block = this.#blocks.get(index) ?? new Map();
    if (block.size === 0) this.#blocks.set(index, block);
    return block;
  }

  /** @param {number} index */
  #touch(index) {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    this.#blocks.set(index, block);
  }

  #forgetOldest() {
    for (const index of this.#blocks.keys()) {
      if (this.#blocks.size <= maxBlocks) return;
      this.#blocks.delete(index);
    }
  }
}

/** @param {number} number */
function blockOf(number) {
  return Math.floor((number - 1) / blockSize);
}

/** @param {number} ms */
function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
