import { ServiceError } from '../errors.ts';

export interface PlaceLimits {
  /** How many tasks run at once. */
  readonly most: number;
  /** What a caller is told if every place is taken and none is given up. */
  readonly refusal: string;
}

/** A task that waits for others, such as a server that may never answer. */
export interface YieldingTask<Result> {
  /** How long it keeps its place even if others want it, in milliseconds. */
  readonly keepsMs: number;
  /** The signal asks it to stop: somebody else has its place. */
  readonly run: (givenUp: AbortSignal) => Promise<Result>;
}

interface Place {
  readonly keptUntil: number;
  readonly stop: AbortController;
}

/**
 * Runs a limited number of tasks at once. When every place is taken, a new task stops the one whose time ended first, and gets its place. So tasks
 * that hang keep nobody waiting.
 */
export class YieldingPlaces {
  readonly #limits: PlaceLimits;
  readonly #taken = new Set<Place>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** @throws ServiceError (`limited`) at once, if no place is free and all are still kept */
  async run<Result>({ keepsMs, run }: YieldingTask<Result>): Promise<Result> {
    if (this.#taken.size >= this.#limits.most) this.#freeOne();
    const place: Place = { keptUntil: performance.now() + keepsMs, stop: new AbortController() };
    this.#taken.add(place);
    try {
      return await run(place.stop.signal);
    } finally {
      this.#taken.delete(place);
    }
  }

  #freeOne(): void {
    const [first] = [...this.#taken].sort((one, other) => one.keptUntil - other.keptUntil);
    const leftMs = first === undefined ? 0 : first.keptUntil - performance.now();
    if (first === undefined || leftMs > 0)
      throw new ServiceError('limited', this.#limits.refusal, { retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) });
    this.#taken.delete(first);
    first.stop.abort();
  }
}
