import { Unavailable } from './errors.ts';

export interface ConcurrencyLimits {
  /** How many tasks run at once. */
  readonly running: number;
  /** How many tasks may wait. More than that are refused. */
  readonly waiting: number;
  /** The message of the refusal, for clients. */
  readonly refusal: string;
}

/** Runs a limited number of expensive tasks at once. Others wait in a queue of limited length, first in, first out. */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** Runs a task as soon as there is room for it. @throws Unavailable at once, where the queue is full */
  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return;
    }
    if (this.#queue.length >= this.#limits.waiting) throw new Unavailable(this.#limits.refusal);
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** The next task takes over the place of the one that ended, so that no later one overtakes it. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
