import type { Logger } from 'pino';

export interface PeriodicTaskOptions {
  /** Milliseconds between the end of one run and the start of the next. */
  readonly intervalMs: number;
  readonly log: Logger;
  /** The log message for a failed run, such as "could not sweep the outbox". */
  readonly failure: string;
  /** One run. It returns `'again'` if the next run should follow without a pause. */
  readonly run: () => Promise<unknown>;
}

/** Work that a process repeats until it is stopped. A run that fails is logged, and the next one tries again. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
  }

  /** @param first whether the first run starts now, or after one interval */
  start(first: 'now' | 'later' = 'now'): void {
    this.#loop = this.#repeat(first === 'now' ? 0 : this.#options.intervalMs);
  }

  /** Resolves when the current run has ended. No other run follows. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #repeat(firstAfterMs: number): Promise<void> {
    const { signal } = this.#stop;
    if (firstAfterMs > 0) await pause(firstAfterMs, signal);
    while (!signal.aborted) {
      const next = await this.#runOnce();
      if (next !== 'again') await pause(this.#options.intervalMs, signal);
    }
  }

  async #runOnce(): Promise<unknown> {
    const { run, log, failure } = this.#options;
    try {
      return await run();
    } catch (error) {
      log.warn({ err: error }, `${failure}; trying again`);
      return undefined;
    }
  }
}

/** Resolves after the given time, or as soon as the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
