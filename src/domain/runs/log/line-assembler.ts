import type { LogPhase, LogStream } from '#domain/shared/vocabulary/runs.ts';
import type { LogRow } from '../attempts/log-store.ts';

/** A line of a log, without its line break. */
export interface LogLine {
  /** From 1, as `sed -n 812p` counts in the whole log. */
  readonly number: number;
  readonly time: string;
  readonly phase: LogPhase;
  readonly stream: LogStream;
  readonly text: string;
  /** How many characters were left out because the line is long. */
  readonly cut: number;
}

/** The reader of a log skips the middle of a line that has more characters than this (`LineAssembler.deepLine`). */
const deepLine = 256 * 1024;

/** Joins the chunks of a log to lines. It must get the chunks in their order. A line may begin in one chunk and end in a later one. */
export class LineAssembler {
  readonly #from: number;
  readonly #longest: number;
  #open: OpenLine | null = null;

  /** @param from the first line to return, from 0 @param longest how many characters of a line are kept */
  constructor(from: number, longest: number) {
    this.#from = from;
    this.#longest = longest;
  }

  /** The lines that end in a chunk. */
  take(row: LogRow): LogLine[] {
    const lines: LogLine[] = [];
    const pieces = new TextDecoder().decode(row.content).split('\n');
    for (const [index, piece] of pieces.entries()) {
      const number = row.firstLine + index;
      const isEnded = index < pieces.length - 1;
      if (number < this.#from || (!isEnded && piece === '')) continue;
      lines.push(...this.#closeUnless(number));
      this.#open ??= new OpenLine(number, row, this.#longest);
      this.#open.add(piece, row.stream);
      if (isEnded) lines.push(...this.#closeUnless(null));
    }
    return lines;
  }

  /** The last line, if it has no end yet. */
  end(): LogLine[] {
    return this.#closeUnless(null);
  }

  /** The index (from 0) of a line that is so long that the rest of it need not be read; null if there is none. */
  get deepLine(): number | null {
    return this.#open && this.#open.length > Math.max(deepLine, this.#longest) ? this.#open.number : null;
  }

  #closeUnless(number: number | null): LogLine[] {
    const open = this.#open;
    if (!open || open.number === number) return [];
    this.#open = null;
    return [open.close()];
  }
}

class OpenLine {
  readonly number: number;
  readonly #begun: Pick<LogRow, 'time' | 'phase' | 'stream'>;
  readonly #longest: number;
  #stream: LogStream;
  #head = '';
  /** The text after the last carriage return, of a line that overwrites itself. */
  #tail: string | null = null;
  length = 0;

  constructor(number: number, begun: LogRow, longest: number) {
    this.number = number;
    this.#begun = begun;
    this.#stream = begun.stream;
    this.#longest = longest;
  }

  add(piece: string, stream: LogStream): void {
    this.length += piece.length;
    if (stream !== 'stdout') this.#stream = stream;
    if (this.#tail !== null || piece.includes('\r')) {
      this.#tail = ((this.#tail ?? this.#head) + piece).slice(-this.#longest);
    }
    if (this.#head.length < this.#longest) this.#head += piece.slice(0, this.#longest - this.#head.length);
  }

  /**
   * A long line keeps its beginning. If it overwrites itself with carriage returns, it keeps its end, because that is what a terminal
   * shows.
   */
  close(): LogLine {
    const kept = this.length > this.#longest && this.#tail !== null ? this.#tail : this.#head;
    const text = kept.endsWith('\r') ? kept.slice(0, -1) : kept;
    const { time, phase } = this.#begun;
    return { number: this.number + 1, time, phase, stream: this.#stream, text, cut: this.length - kept.length };
  }
}
