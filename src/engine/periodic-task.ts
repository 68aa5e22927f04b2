import type { Logger } from 'pino';
import type { SignalSource } from '#domain/shared/events/topics.ts';

export interface PeriodicTaskOptions {
  /** Milliseconds between the end of one run and the start of the next. Null: only `wake` starts a run. */
  readonly intervalMs: number | null;
  readonly log: Logger;
  /** The log message for a failed run, such as "could not sweep the outbox". */
  readonly failure: string;
  /** One run. It returns `'again'` if the next run should follow without a pause. */
  readonly run: () => Promise<unknown>;
  /** What starts a run before its time. */
  readonly wake?: {
    readonly signals: SignalSource;
    readonly topics: readonly string[];
    /** The milliseconds between the end of a run and the next one that a signal starts; by default none. */
    readonly gapMs?: number;
  };
}

/** The longest time that a timer can wait. */
const longestMs = 2 ** 31 - 1;

/** Work that a process repeats until it is stopped. A run that fails is logged, and the next one tries again. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  readonly #intervalMs: number;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #forget: (() => void) | undefined;
  #isWoken = false;
  #endPause: (() => void) | undefined;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? longestMs;
  }

  /** @param first whether the first run starts now, or after one interval */
  start(first: 'now' | 'later' = 'now'): void {
    const { wake } = this.#options;
    this.#forget = wake?.signals.on(wake.topics, () => this.wake());
    this.#loop = this.#repeat(first === 'now' ? 0 : this.#intervalMs);
  }

  /** Starts a run as soon as possible. If one is under way, another one follows. */
  wake(): void {
    this.#isWoken = true;
    this.#endPause?.();
  }

  /** Resolves when the current run has ended. No other run follows. */
  async stop(): Promise<void> {
    this.#forget?.();
    this.#stop.abort();
    await this.#loop;
  }

  async #repeat(firstAfterMs: number): Promise<void> {
    const { signal } = this.#stop;
    const { gapMs = 0 } = this.#options.wake ?? {};
    if (firstAfterMs > 0) await this.#pauseUntilWoken(firstAfterMs);
    while (!signal.aborted) {
      this.#isWoken = false;
      const next = await this.#runOnce();
      if (next === 'again') continue;
      if (gapMs > 0) await pause(gapMs, signal);
      await this.#pauseUntilWoken(this.#intervalMs - gapMs);
    }
  }

  async #pauseUntilWoken(milliseconds: number): Promise<void> {
    if (this.#isWoken) return;
    const woken = new AbortController();
    this.#endPause = () => woken.abort();
    await pause(milliseconds, AbortSignal.any([this.#stop.signal, woken.signal]));
    this.#endPause = undefined;
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
