import { redacted } from '#domain/shared/values/comparison/marks.ts';

/** A range that is redacted. */
interface Span {
  /** Positions in the whole stream. */
  start: number;
  end: number;
  /** Whether the replacement was already written, before the end of the secret arrived. */
  announced: boolean;
}

/** Redacted ranges that are not released yet, by their ends. */
export class Spans {
  #spans: Span[] = [];
  /** The index of the first span that is not yet released. */
  #first = 0;

  get first(): Span | undefined {
    return this.#spans[this.#first];
  }

  /** Adds a match; overlapping ones are merged. */
  add(start: number, end: number): void {
    const merged = { start, end, announced: false };
    while (this.#spans.length > this.#first) {
      const last = this.#spans.at(-1);
      if (!last || last.end <= merged.start) break;
      merged.start = Math.min(merged.start, last.start);
      merged.end = Math.max(merged.end, last.end);
      merged.announced ||= last.announced;
      this.#spans.pop();
    }
    this.#spans.push(merged);
  }

  /** Drops the first span, which was released. */
  shift(): void {
    this.#first += 1;
  }

  /** Drops the spans that are not announced. */
  keepAnnounced(): void {
    this.#spans = this.#spans.slice(this.#first).filter(({ announced }) => announced);
    this.#first = 0;
  }

  /** Frees the memory of released spans, once they are more than half of the list. */
  forget(): void {
    if (this.#first * 2 <= this.#spans.length) return;
    this.#spans = this.#spans.slice(this.#first);
    this.#first = 0;
  }
}

const lineFeed = 0x0a;
const mark = Buffer.from(redacted);
const lineEnd = Buffer.from([lineFeed]);

/** Replaces each line of a stream that is not empty by one mark, so that only the number of lines is visible. */
export class HiddenLines {
  #isMarked = false;

  push(piece: Buffer): Buffer {
    const shown: Buffer[] = [];
    for (let start = 0; start < piece.length; ) {
      const end = piece.indexOf(lineFeed, start);
      if (end !== start && !this.#isMarked) shown.push(mark);
      this.#isMarked = end < 0;
      if (end < 0) break;
      shown.push(lineEnd);
      start = end + 1;
    }
    return Buffer.concat(shown);
  }
}
