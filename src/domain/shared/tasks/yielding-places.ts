import { ServiceError } from '../errors.ts';

export interface PlaceLimits {
  /** The maximum number of tasks that run at once. */
  readonly max: number;
  /** How long a task waits for a place, in milliseconds. */
  readonly waitsMs: number;
  /** The message that refuses a task if no place became free in that time. */
  readonly refusal: string;
}

/** A task that waits for others, such as a server that may never answer. */
export interface YieldingTask<Result> {
  /** Whose task it is, such as a caller and an organization. */
  readonly holders: readonly string[];
  /** How long it keeps its place even if others wait for one, in milliseconds. */
  readonly keepsMs: number;
  /** Runs the task. The signal asks it to stop because another task has its place; it may be aborted before the task begins. */
  readonly run: (givenUp: AbortSignal) => Promise<Result>;
}

type Waiting = Pick<YieldingTask<unknown>, 'holders' | 'keepsMs'> & { readonly begin: (place: Place) => void };

interface Place {
  readonly holders: readonly string[];
  readonly keptUntil: number;
  readonly stop: AbortController;
}

/**
 * Runs a limited number of tasks at once. When every place is taken, tasks wait. A task whose time has ended is then stopped, and one that
 * waits gets its place. Of those that wait, a task whose holders have the fewest places comes first. So neither hanging tasks nor a holder
 * with many tasks keep others waiting for long.
 */
export class YieldingPlaces {
  readonly #limits: PlaceLimits;
  readonly #taken = new Set<Place>();
  /** The waiting tasks in the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  #nextLook: NodeJS.Timeout | undefined;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** @throws ServiceError (`limited`) if it gets no place in time */
  async run<Result>({ run, ...wanted }: YieldingTask<Result>): Promise<Result> {
    const place = await this.#waitForPlace(wanted);
    try {
      return await run(place.stop.signal);
    } finally {
      this.#taken.delete(place);
      this.#giveFreePlaces();
    }
  }

  #waitForPlace({ holders, keepsMs }: Pick<Waiting, 'holders' | 'keepsMs'>): Promise<Place> {
    const { waitsMs, refusal } = this.#limits;
    return new Promise((resolve, reject) => {
      const begin = (place: Place) => {
        clearTimeout(expiry);
        resolve(place);
      };
      const waiting = { holders, keepsMs, begin };
      const expiry = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(new ServiceError('limited', refusal, { retryAfter: Math.ceil(waitsMs / 1000) }));
      }, waitsMs);
      this.#waiting.add(waiting);
      this.#giveFreePlaces();
    });
  }

  #giveFreePlaces(): void {
    while (this.#waiting.size > 0 && this.#hasFreePlace()) this.#giveNextPlace();
    clearTimeout(this.#nextLook);
    const first = this.#firstToYield();
    if (this.#waiting.size === 0 || first === undefined) return;
    this.#nextLook = setTimeout(
      () => this.#giveFreePlaces(),
      Math.max(1, Math.ceil(first.keptUntil - performance.now())),
    );
  }

  /** Whether a place is free. If none is, it takes the place of the task whose time ended first. */
  #hasFreePlace(): boolean {
    if (this.#taken.size < this.#limits.max) return true;
    const first = this.#firstToYield();
    if (first === undefined || first.keptUntil > performance.now()) return false;
    this.#taken.delete(first);
    first.stop.abort();
    return true;
  }

  #firstToYield(): Place | undefined {
    return [...this.#taken].sort((one, other) => one.keptUntil - other.keptUntil)[0];
  }

  #giveNextPlace(): void {
    const counted = [...this.#waiting].map((waiting) => ({ waiting, places: this.#countPlaces(waiting.holders) }));
    const next = counted.sort((one, other) => one.places - other.places)[0]?.waiting;
    if (!next) return;
    this.#waiting.delete(next);
    const { holders, keepsMs, begin } = next;
    const place = { holders, keptUntil: performance.now() + keepsMs, stop: new AbortController() };
    this.#taken.add(place);
    begin(place);
  }

  /** How many places these holders have. */
  #countPlaces(holders: readonly string[]): number {
    return [...this.#taken].filter((place) => place.holders.some((holder) => holders.includes(holder))).length;
  }
}
