import { keysOf, type LimitSubject } from '../tasks/limit-subject.ts';

/** How much processor time each subject may use within a window. */
export interface Budget {
  /** For one person. */
  readonly milliseconds: number;
  /** The people of one owner together may use this many times the budget of one person. */
  readonly sharesOfOwner: number;
  readonly windowSeconds: number;
}

/** Counts the processor time that people and owners use. Used time becomes available again evenly over the window. */
export class ProcessorBudget {
  readonly #budget: Budget;
  readonly #now: () => number;
  readonly #debts = new Map<string, { usedMs: number; at: number; max: number }>();

  constructor(budget: Budget, now: () => number = () => performance.now()) {
    this.#budget = budget;
    this.#now = now;
  }

  /** The seconds until the subject has time again; 0 if it has some now. */
  secondsUntilFree(subject: LimitSubject): number {
    return Math.max(...this.#accountsOf(subject).map(([key, max]) => this.#secondsUntilFree(key, max)));
  }

  charge(subject: LimitSubject, milliseconds: number): void {
    this.#forget();
    for (const [key, max] of this.#accountsOf(subject))
      this.#debts.set(key, { usedMs: this.#used(key) + milliseconds, at: this.#now(), max });
  }

  #accountsOf(subject: LimitSubject): readonly [key: string, max: number][] {
    const { milliseconds, sharesOfOwner } = this.#budget;
    const [person, owner] = keysOf(subject);
    return [
      [person, milliseconds],
      [owner, milliseconds * sharesOfOwner],
    ];
  }

  #secondsUntilFree(key: string, max: number): number {
    const excess = this.#used(key) - max;
    return excess < 0 ? 0 : Math.max(1, Math.ceil(excess / this.#perSecond(max)));
  }

  #perSecond(max: number): number {
    return max / this.#budget.windowSeconds;
  }

  #used(key: string): number {
    const debt = this.#debts.get(key);
    return debt ? Math.max(0, debt.usedMs - ((this.#now() - debt.at) / 1_000) * this.#perSecond(debt.max)) : 0;
  }

  /** Forgets subjects that have their whole budget again, so that the memory does not grow with the number of users. */
  #forget(): void {
    for (const key of this.#debts.keys()) if (this.#used(key) === 0) this.#debts.delete(key);
  }
}
