import type { PatternMatcher } from './matcher.ts';
import { Unescaper } from './unescaper.ts';

/** What may begin a secret is held back, but no more bytes than this: backslashes could make it any length. */
const maxHeld = 4 * 1024 * 1024;
const minRoom = 64;

/** Finds secrets in a stream however often they are escaped. Its patterns are texts without escapes. */
export class EscapedMatches {
  readonly #matcher: PatternMatcher;
  readonly #unescaper = new Unescaper((byte, start) => this.#step(byte, start));
  #state = 0;
  /** Where the last bytes without escapes begin in the stream: the place of each is its number modulo the length. */
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

  /** From where on what was taken up to `end` may become a secret. */
  heldFrom(end: number): number {
    const from = this.#begun(end, this.#state, this.#count);
    if (end - from > maxHeld) this.#state = 0;
    const now = end - from > maxHeld ? this.#begun(end, 0, this.#count) : from;
    return this.#saved === null ? now : Math.min(now, this.#begun(end, this.#saved.state, this.#saved.count));
  }

  /** Remembers what was taken until now, since a colour may begin. */
  save(): void {
    this.#saved = { state: this.#state, count: this.#count, reading: this.#unescaper.save() };
  }

  /** Goes back to what was remembered: a colour does not count. */
  restore(): void {
    if (this.#saved === null) return;
    this.#state = this.#saved.state;
    this.#count = this.#saved.count;
    this.#unescaper.restore(this.#saved.reading);
    this.#saved = null;
  }

  /** No colour began. */
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
    // Bytes that turn out to be a colour are taken back, so there must be room for those before them.
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
