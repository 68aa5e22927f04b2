import type { AttemptState } from '#domain/runs/attempts/writes.ts';

/** How long a state may wait for the result of its attempt, with which it is saved by one transaction. */
const holdMs = 1_000;

/** Who saves a state: the transaction that has stored the result of its attempt, or the spool. */
export type SavedBy = 'result' | 'spool';

/** The latest state of an attempt. It is on disk, and not saved yet, because the result of the attempt may follow at once. */
export class HeldState {
  readonly name: string;
  readonly state: AttemptState;
  /** Resolves when the states before it are saved or set aside. */
  readonly earlier: Promise<unknown>;
  readonly #decided = Promise.withResolvers<SavedBy>();
  readonly #timer = setTimeout(() => this.decide('spool'), holdMs);
  #isDecided = false;

  constructor(name: string, state: AttemptState, earlier: Promise<unknown>) {
    this.name = name;
    this.state = state;
    this.earlier = earlier;
  }

  /** Resolves to who saves it: after a second the spool, unless `take` was called. */
  get savedBy(): Promise<SavedBy> {
    return this.#decided.promise;
  }

  /** From now on it waits until the caller decides. Returns false if that was decided already. */
  take(): boolean {
    clearTimeout(this.#timer);
    return !this.#isDecided;
  }

  /** Only the first decision counts. */
  decide(savedBy: SavedBy): void {
    clearTimeout(this.#timer);
    this.#isDecided = true;
    this.#decided.resolve(savedBy);
  }
}
