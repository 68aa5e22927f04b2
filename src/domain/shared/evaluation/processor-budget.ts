/** How much processor time each principal has, and over which window it comes back. */
export interface Budget {
  readonly milliseconds: number;
  readonly windowSeconds: number;
}

/** Counts the processor time that principals use. What was used comes back evenly over the window. */
export class ProcessorBudget {
  readonly #budget: Budget;
  readonly #now: () => number;
  readonly #debts = new Map<string, { usedMs: number; at: number }>();

  constructor(budget: Budget, now: () => number = () => performance.now()) {
    this.#budget = budget;
    this.#now = now;
  }

  /** The seconds until the principal has time again; 0 if it has some now. */
  secondsUntilFree(principalId: string): number {
    const excess = this.#used(principalId) - this.#budget.milliseconds;
    return excess < 0 ? 0 : Math.max(1, Math.ceil(excess / this.#perSecond));
  }

  charge(principalId: string, milliseconds: number): void {
    const usedMs = this.#used(principalId) + milliseconds;
    this.#forget();
    this.#debts.set(principalId, { usedMs, at: this.#now() });
  }

  get #perSecond(): number {
    return this.#budget.milliseconds / this.#budget.windowSeconds;
  }

  #used(principalId: string): number {
    const debt = this.#debts.get(principalId);
    return debt ? Math.max(0, debt.usedMs - ((this.#now() - debt.at) / 1_000) * this.#perSecond) : 0;
  }

  /** Forgets principals whose time has come back, so that the memory does not grow with everybody who ever used some. */
  #forget(): void {
    for (const id of this.#debts.keys()) if (this.#used(id) === 0) this.#debts.delete(id);
  }
}
