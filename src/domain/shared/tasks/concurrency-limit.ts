import { Unavailable } from '../errors.ts';

export interface ConcurrencyLimits {
  /** The maximum number of tasks that run at once. */
  readonly running: number;
  /** The maximum number of waiting tasks, and the message that refuses a further task. By default every task may wait. */
  readonly queue?: { readonly length: number; readonly refusal: string };
}

/** Runs a limited number of tasks at once. Others wait in a queue, first in, first out. */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** Whether no task runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Runs a task as soon as fewer than the maximum run. @throws Unavailable at once, if the queue is full */
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
    const { queue } = this.#limits;
    if (queue && this.#queue.length >= queue.length) throw new Unavailable(queue.refusal);
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** The next task takes over the place of the one that ended, so that no later one overtakes it. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
