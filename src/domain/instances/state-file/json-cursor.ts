const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** The deepest nesting that OpenTofu itself reads. */
const maxDepth = 10_000;
const turnLength = 1_000;

const escapes = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export class JsonError extends Error {}

/**
 * Reads JSON from its bytes, value by value, and keeps nothing of what it skips. `JSON.parse` would need many times the memory of
 * a large state, and would round integers beyond 2^53. The caller reads or skips each value that the cursor reaches.
 */
export class JsonCursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  /** The bytes are valid UTF-8. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtObject(): boolean {
    return this.#peek() === openBrace;
  }

  get isAtArray(): boolean {
    return this.#peek() === openBracket;
  }

  get isAtText(): boolean {
    return this.#peek() === quote;
  }

  /** The keys of an object. After each one the cursor is at its value. */
  *keys(): Generator<string> {
    this.#expect(openBrace);
    if (this.#passes(closeBrace)) return;
    do {
      const key = this.text();
      this.#expect(colon);
      yield key;
    } while (this.#passes(comma));
    this.#expect(closeBrace);
  }

  /** Iterates over the items of an array. At each step the cursor is at the item's value. */
  *items(): Generator<void> {
    this.#expect(openBracket);
    if (this.#passes(closeBracket)) return;
    do yield;
    while (this.#passes(comma));
    this.#expect(closeBracket);
  }

  text(): string {
    if (!this.isAtText) throw this.#problem('expected a text');
    const start = this.#at;
    this.#skipText();
    return JSON.parse(this.#slice(start));
  }

  /** Reads a text, a number, or one of `true`, `false` and `null`, and returns its source text. */
  literal(): string {
    this.#peek();
    const start = this.#at;
    if (this.isAtText) this.#skipText();
    else this.#skipWord();
    return this.#slice(start);
  }

  /** Skips one value of any kind and depth, and checks its syntax. It yields after every thousand values. */
  *skipInTurns(): Generator<void, void> {
    const closing: number[] = [];
    let passed = 0;
    do {
      const opened = this.#skipStart();
      if (opened !== undefined) closing.push(opened);
      if (closing.length > maxDepth) throw this.#problem(`nested deeper than ${maxDepth} levels`);
      if (opened === closeBrace) this.#skipKey();
      else if (opened === undefined) this.#skipEnds(closing);
      passed += 1;
      if (passed % turnLength === 0) yield;
    } while (closing.length > 0);
  }

  /** Skips one value of any kind in turns, and returns its source text. */
  *source(): Generator<void, string> {
    this.#peek();
    const start = this.#at;
    yield* this.skipInTurns();
    return this.#slice(start);
  }

  /** @throws JsonError if anything follows the value that was read */
  end(): void {
    if (this.#peek() !== undefined) throw this.#problem('expected nothing more');
  }

  /** Skips a scalar or an empty container, or only the start of a container; in the latter case it returns the closing byte. */
  #skipStart(): number | undefined {
    if (this.#passes(openBrace)) return this.#passes(closeBrace) ? undefined : closeBrace;
    if (this.#passes(openBracket)) return this.#passes(closeBracket) ? undefined : closeBracket;
    this.literal();
    return undefined;
  }

  /** After a value: skips the ends of the containers that end with it, up to the next value. */
  #skipEnds(closing: number[]): void {
    while (closing.length > 0) {
      const close = closing.at(-1) ?? 0;
      if (this.#passes(comma)) {
        if (close === closeBrace) this.#skipKey();
        return;
      }
      this.#expect(close);
      closing.pop();
    }
  }

  #skipKey(): void {
    if (!this.isAtText) throw this.#problem('expected the name of a member');
    this.#skipText();
    this.#expect(colon);
  }

  #skipText(): void {
    const bytes = this.#bytes;
    for (let at = this.#at + 1; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) {
        this.#at = at + 1;
        return;
      }
      if (byte === backslash) at += this.#escapeLength(at);
      else if (byte < 0x20) break;
    }
    throw this.#problem('expected a text that ends, without control characters');
  }

  /** The number of bytes of an escape after its backslash. */
  #escapeLength(at: number): number {
    const letter = this.#bytes[at + 1] ?? 0;
    if (escapes.has(letter)) return 1;
    const digits = String.fromCharCode(...this.#bytes.subarray(at + 1, at + 6));
    if (/^u[0-9a-fA-F]{4}$/.test(digits)) return 5;
    throw this.#problem('expected a valid escape in a text');
  }

  /** Skips a number or a name such as `null`. */
  #skipWord(): void {
    const start = this.#at;
    for (let byte = this.#bytes[start]; byte !== undefined && isWordByte(byte); byte = this.#bytes[this.#at])
      this.#at += 1;
    const word = this.#slice(start);
    if (word === 'true' || word === 'false' || word === 'null' || numberForm.test(word)) return;
    this.#at = start;
    throw this.#problem('expected a value');
  }

  #slice(start: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, this.#at - start).toString();
  }

  /** The next byte that is no space; undefined at the end. */
  #peek(): number | undefined {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#at += 1;
    }
  }

  #passes(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at += 1;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#passes(byte)) throw this.#problem(`expected "${String.fromCharCode(byte)}"`);
  }

  /** The message never repeats the content, which holds secrets. */
  #problem(expected: string): JsonError {
    return new JsonError(`${expected} at byte ${this.#at}`);
  }
}

function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || // 0-9
    (byte >= 0x61 && byte <= 0x7a) || // a-z
    byte === 0x2b || // +
    byte === 0x2d || // -
    byte === 0x2e || // .
    byte === 0x45 // E
  );
}
