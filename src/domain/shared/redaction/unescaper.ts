const backslash = 0x5c;
/** The letter of an escape that stands for one byte of UTF-8. */
const byteLetter = 0x78;
/**
 * A longer run of backslashes counts as content, so that few bytes of a stream are held back. Escaping a quote twelve times gives a run of
 * 4095.
 */
const maxRun = 4096;
/** The escapes of one letter. A line feed and a tab are part of a text; invisible characters are not, as in every redacted text. */
const shortEscapes = new Map([
  [0x6e, 0x0a],
  [0x74, 0x09],
]);
const unseenEscapes = new Set([...'rbf'].map((letter) => letter.charCodeAt(0)));
/** How many hexadecimal digits follow `x`, `u` and `U`. */
const codeEscapes = new Map([
  [byteLetter, 2],
  [0x75, 4],
  [0x55, 8],
]);
/** HCL doubles them before a brace. */
const doubled = new Set([...'$%'].map((sign) => sign.charCodeAt(0)));

/** The state of reading an escape. Positions count in the stream. */
interface Reading {
  /** Backslashes in a row, and where they began. */
  run: number;
  start: number;
  /** The code that is being read: how many digits are missing, what was read, and the letter before it; 0: none. */
  missing: number;
  code: number;
  digits: readonly number[];
  letter: number;
  letterAt: number;
  /** The first half of a character beyond 16 bits, and where it began; 0: none. */
  high: number;
  highAt: number;
  /** The last byte that was passed on. */
  last: number;
}

const nothing: Readonly<Reading> = {
  run: 0,
  start: 0,
  missing: 0,
  code: 0,
  digits: [],
  letter: 0,
  letterAt: 0,
  high: 0,
  highAt: 0,
  last: -1,
};

/**
 * Removes the escapes from a stream of bytes. Any number of backslashes before an escape counts as one escape, so that the result is the
 * same however often JSON, HCL, Go or a shell escaped the text. It passes each byte on with the position where it begins in the stream.
 */
export class Unescaper {
  #reading: Reading = { ...nothing };
  readonly #pass: (byte: number, start: number) => void;

  constructor(pass: (byte: number, start: number) => void) {
    this.#pass = pass;
  }

  /** The position of an unfinished escape; null: there is none. */
  get begun(): number | null {
    const { run, missing, start, high, highAt } = this.#reading;
    if (high !== 0) return highAt;
    return run > 0 || missing > 0 ? start : null;
  }

  save(): Readonly<Reading> {
    return { ...this.#reading };
  }

  restore(saved: Readonly<Reading>): void {
    this.#reading = { ...saved };
  }

  take(byte: number, position: number): void {
    const reading = this.#reading;
    if (reading.missing > 0) {
      if (this.#takeDigit(byte)) return;
      this.#giveUpCode();
    }
    if (byte === backslash) this.#takeBackslash(position);
    else if (reading.run === 0) this.#plain(byte, position);
    else this.#takeEscaped(byte, position);
  }

  #takeBackslash(position: number): void {
    const reading = this.#reading;
    if (reading.run === 0) reading.start = position;
    reading.run += 1;
    if (reading.run < maxRun) return;
    reading.run = 0;
    this.#plain(backslash, reading.start);
  }

  /** Takes the byte after backslashes. */
  #takeEscaped(byte: number, position: number): void {
    const reading = this.#reading;
    const { start } = reading;
    reading.run = 0;
    const missing = codeEscapes.get(byte);
    if (missing !== undefined) {
      Object.assign(reading, { missing, code: 0, digits: [], letter: byte, letterAt: position });
      return;
    }
    const short = shortEscapes.get(byte);
    if (unseenEscapes.has(byte)) reading.high = 0;
    else if (short !== undefined) this.#plain(short, start);
    else if (isWord(byte)) {
      this.#plain(backslash, start);
      this.#plain(byte, position);
    } else this.#plain(byte, start);
  }

  /** False if the byte is no digit. */
  #takeDigit(byte: number): boolean {
    const reading = this.#reading;
    const digit = digitOf(byte);
    if (digit < 0) return false;
    reading.code = reading.code * 16 + digit;
    reading.digits = [...reading.digits, byte];
    reading.missing -= 1;
    if (reading.missing === 0) this.#endCode();
    return true;
  }

  #endCode(): void {
    const { code, letter, start, high, highAt } = this.#reading;
    const isByte = letter === byteLetter && code >= 0x80;
    const isLow = high !== 0 && code >= 0xdc00 && code < 0xe000;
    if (code > 0x10ffff) this.#giveUpCode();
    else if (isByte) this.#plain(code, start);
    else if (code >= 0xd800 && code < 0xdc00) Object.assign(this.#reading, { high: code, highAt: start });
    else if (isLow) this.#character((high - 0xd800) * 0x400 + (code - 0xdc00) + 0x10000, highAt);
    else this.#character(code, start);
  }

  #character(code: number, start: number): void {
    if (code >= 0x80) for (const byte of Buffer.from(String.fromCodePoint(code))) this.#plain(byte, start);
    else if (isSeen(code)) this.#plain(code, start);
    else this.#reading.high = 0;
  }

  /** The bytes turned out to be no escape, so they are passed on as they are. */
  #giveUpCode(): void {
    const { digits, letter, letterAt, start } = this.#reading;
    this.#reading.missing = 0;
    this.#plain(backslash, start);
    this.#plain(letter, letterAt);
    for (const [index, digit] of digits.entries()) this.#plain(digit, letterAt + 1 + index);
  }

  #plain(byte: number, start: number): void {
    const reading = this.#reading;
    reading.high = 0;
    if (byte === reading.last && doubled.has(byte)) return;
    reading.last = byte;
    this.#pass(byte, start);
  }
}

/** Removes the escapes from a text. Backslashes at its end are dropped: they would escape what follows it. */
export function unescapeBytes(bytes: Buffer): Buffer {
  const passed: number[] = [];
  const unescaper = new Unescaper((byte) => passed.push(byte));
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === backslash) end -= 1;
  for (let at = 0; at < end; at++) unescaper.take(bytes[at] ?? 0, at);
  // A space never continues an escape, so it completes an unfinished one.
  if (unescaper.begun !== null) {
    unescaper.take(0x20, end);
    passed.pop();
  }
  return Buffer.from(passed);
}

function isWord(byte: number): boolean {
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return isLetter || (byte >= 0x30 && byte <= 0x39) || byte >= 0x80;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

function isSeen(code: number): boolean {
  return code < 0x20 ? code === 0x09 || code === 0x0a : code !== 0x7f;
}
