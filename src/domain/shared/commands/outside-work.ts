import { Unavailable } from '../errors.ts';

/** How long a transaction waits, with its locks and its connection, for work that needs no database. */
const patienceMs = 20;

/** The work outside the database is not finished in time. The transaction is rolled back, and tried again once the work is finished. */
export class WorkUnfinished extends Unavailable {
  readonly finished: Promise<unknown>;

  constructor(finished: Promise<unknown>) {
    super('what the request depends on keeps changing: try again');
    this.finished = finished;
  }
}

/** The work of one transaction outside the database, by key. All tries of the transaction share it. */
export class OutsideWork {
  readonly #started = new Map<string, Promise<unknown>>();

  /** @throws WorkUnfinished if the work takes long; any error of the work */
  async await<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    // Equal keys mean equal work.
    const started = (this.#started.get(key) as Promise<Result> | undefined) ?? work();
    this.#started.set(key, started);
    const timer = Promise.withResolvers<never>();
    const timeout = setTimeout(() => timer.reject(new WorkUnfinished(started)), patienceMs);
    try {
      return await Promise.race([started, timer.promise]);
    } finally {
      clearTimeout(timeout);
    }
  }
}
