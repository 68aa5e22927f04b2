/** Limits how many tasks run at the same time. Further tasks wait and start in the order in which they came. */
export class Semaphore {
  readonly #capacity: number;
  readonly #onIdle: () => void;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `onIdle` is called when no task runs or waits any more. */
  constructor(capacity: number, onIdle: () => void) {
    this.#capacity = capacity;
    this.#onIdle = onIdle;
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#capacity) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  /** Passes the slot to the task that has waited longest. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
    if (this.#running === 0) this.#onIdle();
  }
}
