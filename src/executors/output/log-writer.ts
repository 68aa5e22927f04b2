import { createHash } from 'node:crypto';
import type { LogStream } from '#domain/shared/vocabulary/runs.ts';
import type { ExecutionPhase, LogChunk } from '#executors/protocol/request.ts';

const chunkBytes = 64 * 1024;
const flushAfterMs = 250;
/** How many unacknowledged bytes may be on their way to the worker before the programs have to wait. */
const windowBytes = 1024 * 1024;
const newline = 0x0a;
const nothing = Buffer.alloc(0);

interface Pending {
  readonly stream: LogStream;
  time: string;
  pieces: Buffer[];
  bytes: number;
}

interface LogWriterOptions {
  readonly phase: ExecutionPhase;
  /** Bytes to keep; null: all. */
  readonly limit: number | null;
  readonly send: (chunk: LogChunk) => void;
}

/**
 * Cuts redacted output into numbered chunks, at 64 KB or after 250 ms. It sends at most one window ahead of the worker's
 * acknowledgements, so that a slow worker slows the programs down instead of filling the memory.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #pending = new Map<LogStream, Pending>();
  readonly #unacknowledged = new Map<number, number>();
  #timer: NodeJS.Timeout | null = null;
  #sequence = 0;
  #line = 0;
  /** The last chunk did not end its last line. */
  #endsInLine = false;
  #kept = 0;
  #dropped = 0;
  #inFlight = 0;
  #waiting: (() => void)[] = [];
  #isAbandoned = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  write(stream: LogStream, content: Buffer): void {
    const room = this.#options.limit === null ? content.length : Math.max(0, this.#options.limit - this.#kept);
    const kept = content.subarray(0, room);
    if (kept.length > 0) this.#append(stream, kept);
    if (kept.length === content.length) return;
    if (this.#dropped === 0) this.note(`[log truncated: it reached its limit of ${this.#options.limit} bytes]`);
    this.#dropped += content.length - kept.length;
  }

  /** Logs a line of the executor's own, after everything that was written before. It never continues a line of the programs. */
  note(text: string): void {
    this.#flush(true);
    this.#add(this.#newPending('system', Buffer.from(`${this.#endsInLine ? '\n' : ''}${text}\n`)));
  }

  /** Whether the window is full, so that the worker must acknowledge something first. */
  get isBehind(): boolean {
    return this.#inFlight > windowBytes;
  }

  /** Resolves once the window has room. */
  async ready(): Promise<void> {
    while (this.isBehind) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  acknowledge(sequence: number): void {
    this.#inFlight -= this.#unacknowledged.get(sequence) ?? 0;
    this.#unacknowledged.delete(sequence);
    this.#wake();
  }

  /** Waits for no acknowledgement any more, not even of what is written from now on, because none will come. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#unacknowledged.clear();
    this.#inFlight = 0;
    this.#wake();
  }

  /** Sends the rest, and resolves once everything is acknowledged. */
  async end(): Promise<void> {
    this.#flush(true);
    if (this.#dropped > 0) this.note(`[${this.#dropped} bytes of log were dropped]`);
    if (this.#timer) clearTimeout(this.#timer);
    while (this.#unacknowledged.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  #append(stream: LogStream, content: Buffer): void {
    const pending = this.#pending.get(stream) ?? { stream, time: '', pieces: [], bytes: 0 };
    if (pending.bytes === 0) pending.time = new Date().toISOString();
    pending.pieces.push(content);
    pending.bytes += content.length;
    this.#kept += content.length;
    this.#pending.set(stream, pending);
    if (pending.bytes >= chunkBytes) this.#cut(pending, false);
    this.#timer ??= setTimeout(() => this.#flush(false), flushAfterMs);
  }

  #newPending(stream: LogStream, content: Buffer): Pending {
    return { stream, time: new Date().toISOString(), pieces: [content], bytes: content.length };
  }

  #flush(isFinal: boolean): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const inOrder = [...this.#pending.values()].filter(({ bytes }) => bytes > 0);
    for (const pending of inOrder.sort((a, b) => (a.time < b.time ? -1 : 1))) this.#cut(pending, isFinal);
  }

  /** Sends a buffer, except for an unfinished character at its end. */
  #cut(pending: Pending, isFinal: boolean): void {
    const content = Buffer.concat(pending.pieces);
    const end = isFinal ? content.length : content.length - incompleteTail(content);
    for (let start = 0; start < end; ) {
      const stop = end - start <= chunkBytes ? end : cutBefore(content, start + chunkBytes);
      this.#add({ ...pending, pieces: [content.subarray(start, stop)] });
      start = stop;
    }
    const rest = content.subarray(end);
    pending.pieces = rest.length === 0 ? [] : [rest];
    pending.bytes = rest.length;
  }

  #add({ stream, time, pieces }: Pending): void {
    const content = pieces[0] ?? nothing;
    const lines = countLines(content);
    const checksum = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const sequence = ++this.#sequence;
    const { phase } = this.#options;
    if (!this.#isAbandoned) {
      this.#unacknowledged.set(sequence, content.length);
      this.#inFlight += content.length;
    }
    this.#options.send({ sequence, phase, stream, time, content, firstLine: this.#line, lines, checksum });
    this.#line += lines;
    this.#endsInLine = content.at(-1) !== newline;
  }
}

function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(newline); at !== -1; at = content.indexOf(newline, at + 1)) lines++;
  return lines;
}

/** Returns the last position at or before `limit` that is not inside a character. */
function cutBefore(content: Buffer, limit: number): number {
  return limit - incompleteTail(content.subarray(0, limit));
}

/** Counts the bytes at the end that begin a UTF-8 character without finishing it; 0 if the end is whole or malformed. */
function incompleteTail(content: Buffer): number {
  for (let back = 1; back <= 3 && back <= content.length; back++) {
    const byte = content[content.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc2) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
