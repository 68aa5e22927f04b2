import type { Logger } from 'pino';

/** How long a feed waits at most for a signal. Rows may change without one, and a signal may be lost. */
const pollMs = 400;

export interface FeedPollsOptions {
  readonly log: Logger;
  /** Reads once. `isPeriodic`: no signal has called for it. */
  readonly read: (isPeriodic: boolean) => Promise<void>;
  readonly isWatched: () => boolean;
  /** The log message for a failed read. */
  readonly failure: string;
  /** The milliseconds between the end of a read and the next one. */
  readonly gapMs: number;
}

/**
 * Reads for a feed, one read at a time: soon after each call, and 400 ms after the last read. It does not read while nobody watches the feed.
 */
export class FeedPolls {
  readonly #options: FeedPollsOptions;
  #timer: NodeJS.Timeout | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isCalled = false;

  constructor(options: FeedPollsOptions) {
    this.#options = options;
  }

  /** Makes it read as soon as it may. */
  call(): void {
    this.#isCalled = true;
    if (!this.#isReading) this.#schedule(Math.max(0, this.#lastEnd + this.#options.gapMs - performance.now()));
  }

  #schedule(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#poll(), afterMs);
  }

  async #poll(): Promise<void> {
    const { read, isWatched, log, failure, gapMs } = this.#options;
    const isPeriodic = !this.#isCalled;
    this.#isCalled = false;
    if (!isWatched()) return;
    this.#isReading = true;
    try {
      await read(isPeriodic);
    } catch (error) {
      log.warn({ err: error }, `${failure}; trying again`);
    }
    this.#isReading = false;
    this.#lastEnd = performance.now();
    this.#schedule(this.#isCalled ? gapMs : pollMs);
  }
}
