import { createHash } from 'node:crypto';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import type { LogPhase, LogStream } from '#domain/shared/vocabulary/runs.ts';
import type { TestApi } from '../api/in-process-api.ts';

/** A chunk of a log: its text, on standard output, or on another stream. */
export type Chunk = string | readonly [LogStream, string];

interface WrittenLog {
  readonly attemptId: string;
  readonly phase?: LogPhase;
}

/** Writes the log of an attempt chunk by chunk, as its executor does. */
export class LogOfAttempt {
  readonly #api: TestApi;
  readonly #attemptId: string;
  readonly #phase: LogPhase;
  #sequence = 0;
  #line = 0;

  constructor(api: TestApi, { attemptId, phase = 'plan' }: WrittenLog) {
    this.#api = api;
    this.#attemptId = attemptId;
    this.#phase = phase;
  }

  async write(...chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) {
      const [stream, text] = typeof chunk === 'string' ? (['stdout', chunk] as const) : chunk;
      const content = Buffer.from(text);
      const lines = text.split('\n').length - 1;
      await appendLog(this.#api.services.orm.em.fork(), this.#attemptId, {
        sequence: ++this.#sequence,
        phase: this.#phase,
        stream,
        time: new Date().toISOString(),
        content,
        firstLine: this.#line,
        lines,
        checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      });
      this.#line += lines;
    }
  }

  /** Leaves out lines, as a worker does that was lost before it delivered them. */
  lose(lines: number): void {
    this.#sequence += 1;
    this.#line += lines;
  }
}
