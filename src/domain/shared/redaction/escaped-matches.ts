import type { PatternMatcher } from './matcher.ts';
import { Unescaper } from './unescaper.ts';

/**
 * The maximum number of bytes that are held back because they may begin a secret: backslashes could make such a beginning arbitrarily long.
 */
const maxHeld = 4 * 1024 * 1024;
const minRoom = 64;

/** Finds secrets in a stream even if they are escaped several times. Its patterns are texts without escapes. */
export class EscapedMatches {
  readonly #matcher: PatternMatcher;
  readonly #unescaper = new Unescaper((byte, start) => this.#step(byte, start));
  #state = 0;
  /** A ring buffer with the positions in the stream of the last unescaped bytes. The index of a byte is its number modulo the length. */
  #starts = new Float64Array(minRoom);
  #count = 0;
  #found = Number.POSITIVE_INFINITY;
  #saved: { readonly state: number; readonly count: number; readonly reading: ReturnType<Unescaper['save']> } | null =
    null;

  constructor(matcher: PatternMatcher) {
    this.#matcher = matcher;
  }

  /** Takes the next byte, and returns where the secret begins that ends with it; null: none does. */
  take(byte: number, position: number): number | null {
    this.#found = Number.POSITIVE_INFINITY;
    this.#unescaper.take(byte, position);
    return this.#found === Number.POSITIVE_INFINITY ? null : this.#found;
  }

  /** The position from which the bytes before `end` may still become a secret. */
  heldFrom(end: number): number {
    const from = this.#begun(end, this.#state, this.#count);
    if (end - from > maxHeld) this.#state = 0;
    const now = end - from > maxHeld ? this.#begun(end, 0, this.#count) : from;
    return this.#saved === null ? now : Math.min(now, this.#begun(end, this.#saved.state, this.#saved.count));
  }

  /** Saves the state, since a colour may begin. */
  save(): void {
    this.#saved = { state: this.#state, count: this.#count, reading: this.#unescaper.save() };
  }

  /** Returns to the saved state: the bytes since then were a colour, which does not count. */
  restore(): void {
    if (this.#saved === null) return;
    this.#state = this.#saved.state;
    this.#count = this.#saved.count;
    this.#unescaper.restore(this.#saved.reading);
    this.#saved = null;
  }

  /** Discards the saved state: no colour began. */
  forget(): void {
    this.#saved = null;
  }

  #begun(end: number, state: number, count: number): number {
    const held = this.#matcher.heldAt(state);
    const first = held > 0 ? this.#startOf(count - held) : end;
    return Math.min(first, this.#unescaper.begun ?? end);
  }

  #step(byte: number, start: number): void {
    this.#starts[this.#count % this.#starts.length] = start;
    this.#count += 1;
    this.#state = this.#matcher.step(this.#state, byte);
    // Bytes that turn out to be a colour are taken back, so the positions before them must still be in the buffer.
    if (this.#matcher.heldAt(this.#state) + minRoom / 2 > this.#starts.length) this.#grow();
    const length = this.#matcher.matchedAt(this.#state);
    if (length > 0) this.#found = Math.min(this.#found, this.#startOf(this.#count - length));
  }

  #startOf(number: number): number {
    return this.#starts[number % this.#starts.length] ?? 0;
  }

  #grow(): void {
    const grown = new Float64Array(this.#starts.length * 2);
    for (let number = Math.max(0, this.#count - this.#starts.length); number < this.#count; number++)
      grown[number % grown.length] = this.#startOf(number);
    this.#starts = grown;
  }
}
