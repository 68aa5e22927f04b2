import type { Logger } from 'pino';

export interface RoundsOptions {
  /** Milliseconds between the end of a round and the next one. */
  readonly everyMs: number;
  readonly log: Logger;
  /** What a round that failed could not do, for the log; the next one tries again. */
  readonly failure: string;
  /** One round. It answers `'again'` where the next one should follow at once. */
  readonly round: () => Promise<unknown>;
}

/** Something that a process does again and again until it is stopped. */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** `first`: whether the first round comes now, or after the pause. */
  start(first: 'now' | 'later'): void {
    this.#loop = this.#run(first === 'now' ? 0 : this.#options.everyMs);
  }

  /** Resolves when the round under way has ended; no other follows. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(firstAfterMs: number): Promise<void> {
    const { signal } = this.#stop;
    if (firstAfterMs > 0) await pause(firstAfterMs, signal);
    while (!signal.aborted) {
      const next = await this.#tryRound();
      if (next !== 'again') await pause(this.#options.everyMs, signal);
    }
  }

  async #tryRound(): Promise<unknown> {
    const { round, log, failure } = this.#options;
    try {
      return await round();
    } catch (error) {
      log.warn({ err: error }, `${failure}; trying again`);
      return undefined;
    }
  }
}

/** Sleeps, and no longer than until the signal. */
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
