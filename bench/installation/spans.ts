import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Span } from '#domain/shared/tasks/spans.ts';

const recorder = new URL('./record-spans.ts', import.meta.url);

/** The spans that the processes of an installation record. `settings` are for these processes. */
export class SpanFile {
  readonly settings: Readonly<Record<string, string>>;
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, 'spans.jsonl');
    this.settings = { BENCH_SPANS: this.#path, NODE_OPTIONS: `--import=${recorder.href}` };
  }

  /** All spans until now, in the order of their ends. The last ones may still be on their way. */
  read(): Span[] {
    const lines = existsSync(this.#path) ? readFileSync(this.#path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Span).sort((one, other) => one.endedAt - other.endedAt);
  }
}
