import { RedactingStream, type Redactor } from '#domain/shared/redaction/redactor.ts';
import type { LogWriter } from './log-writer.ts';

const tailBytes = 8 * 1024;

interface OutputRecorderOptions {
  readonly redactor: Redactor;
  readonly writer: LogWriter;
  readonly limitBytes: number;
  /** Called once, when the programs have printed more than the limit. */
  readonly onLimit: () => void;
}

/** Receives what the programs print, redacted, as it goes to the log. */
export type OutputListener = (stream: 'stdout' | 'stderr', content: Buffer) => void;

/** Passes the programs' output to the log: counts it, redacts it, and makes the programs wait for the log. */
export class OutputRecorder {
  readonly #options: OutputRecorderOptions;
  readonly #streams: Record<'stdout' | 'stderr', RedactingStream>;
  #printed = 0;
  #isOver = false;
  #tail = Buffer.alloc(0);
  #listener: OutputListener | null = null;

  constructor(options: OutputRecorderOptions) {
    this.#options = options;
    this.#streams = { stdout: new RedactingStream(options.redactor), stderr: new RedactingStream(options.redactor) };
  }

  listen(listener: OutputListener): void {
    this.#listener = listener;
  }

  async take(stream: 'stdout' | 'stderr', piece: Buffer): Promise<void> {
    if (this.#isOver) return;
    const room = this.#options.limitBytes - this.#printed;
    this.#printed += piece.length;
    this.#record(stream, this.#streams[stream].push(piece.subarray(0, room)));
    if (piece.length > room) {
      this.#isOver = true;
      this.note(`[output ended: it reached its limit of ${this.#options.limitBytes} bytes]`);
      this.#options.onLimit();
    }
    await this.#options.writer.ready();
  }

  /** Releases the output that redaction still holds back. No further output can continue it. */
  flush(): void {
    this.#record('stdout', this.#streams.stdout.end());
    this.#record('stderr', this.#streams.stderr.end());
  }

  /** Logs a line of the service itself. */
  note(text: string): void {
    this.flush();
    this.#options.writer.note(this.#options.redactor.redactText(text));
  }

  /** Returns the end of standard error, redacted. */
  lastErrors(): string {
    return this.#tail.toString();
  }

  #record(stream: 'stdout' | 'stderr', content: Buffer): void {
    if (content.length === 0) return;
    this.#options.writer.write(stream, content);
    this.#listener?.(stream, content);
    if (stream === 'stderr') this.#tail = Buffer.concat([this.#tail, content]).subarray(-tailBytes);
  }
}
