const escapeByte = 0x1b;
const openBracket = 0x5b;
/** A longer run of control characters counts as content, so that few bytes of a stream are held back. */
const maxRun = 32;
const maxColourBytes = 18;

/** The bytes of a stream that do not count as part of a secret: control characters, and the sequences that colour a text. */
export class SkippedBytes {
  /** Positions in the stream, in order. */
  #positions: number[] = [];
  #run = 0;
  /** The position after an escape that may begin a colour; null: none. */
  #colourStart: number | null = null;

  get colourStart(): number | null {
    return this.#colourStart;
  }

  /**
   * Takes the next byte. `escape`: a colour may begin after it; `colour`: it ends a colour, none of whose bytes counts; `control`: it does
   * not count; null: it counts, unless it turns out to be part of a colour.
   */
  take(byte: number, position: number): 'control' | 'escape' | 'colour' | null {
    if (isControl(byte) && this.#run < maxRun) return this.#skip(byte, position);
    if (this.#colourStart !== null) {
      const length = position - this.#colourStart + 1;
      if (isColourEnd(byte) && length > 1) return this.#endColour(position);
      const continues = length === 1 ? byte === openBracket : isParameter(byte) && length < maxColourBytes;
      if (continues) return null;
      this.#colourStart = null;
    }
    this.#run = 0;
    return null;
  }

  /** The position from which on `count` of the bytes up to `end` were not skipped. */
  before(end: number, count: number): number {
    const { length } = this.#positions;
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#positions[middle] ?? 0) > end - count - (length - middle)) high = middle;
      else low = middle + 1;
    }
    return end - count - (length - low);
  }

  reset(): void {
    this.#positions = [];
    this.#run = 0;
    this.#colourStart = null;
  }

  /** Forgets the bytes before a position, once they are more than half. */
  forget(position: number): void {
    const { length } = this.#positions;
    if (length === 0) return;
    if ((this.#positions[length - 1] ?? 0) < position) this.#positions = [];
    else if ((this.#positions[length >> 1] ?? 0) < position)
      this.#positions = this.#positions.filter((at) => at >= position);
  }

  #skip(byte: number, position: number): 'control' | 'escape' {
    this.#positions.push(position);
    this.#run += 1;
    this.#colourStart = byte === escapeByte ? position + 1 : null;
    return byte === escapeByte ? 'escape' : 'control';
  }

  #endColour(position: number): 'colour' {
    for (let at = this.#colourStart ?? position; at <= position; at++) this.#positions.push(at);
    this.#run += 1;
    this.#colourStart = null;
    return 'colour';
  }
}

/** A tab and a line feed can be part of a secret. */
function isControl(byte: number): boolean {
  return byte < 0x20 ? byte !== 0x09 && byte !== 0x0a : byte === 0x7f;
}

function isParameter(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x3b;
}

/** `m` ends a colour, and `K` follows one that `grep` prints. */
function isColourEnd(byte: number): boolean {
  return byte === 0x6d || byte === 0x4b;
}
