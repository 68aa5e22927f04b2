/** Something would exceed its budget. */
export class BeyondBudget extends Error {}

/** A limit on the work for one form. All parts share it and pay before they are made, so that nested parts cannot multiply. */
export class Budget {
  #left: number;

  constructor(left: number) {
    this.#left = Math.max(0, left);
  }

  get left(): number {
    return this.#left;
  }

  /** Spends the cost and returns true, or returns false if less is left. */
  spend(cost: number): boolean {
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /** @throws BeyondBudget */
  demand(cost: number): void {
    if (!this.spend(cost)) throw new BeyondBudget();
  }

  /**
   * Pays for something that exists already, such as texts. If that exceeds the budget, nothing is left, so that nobody tries again.
   * @throws BeyondBudget
   */
  charge(cost: number): void {
    if (this.spend(cost)) return;
    this.#left = 0;
    throw new BeyondBudget();
  }
}

const charactersOfOne = 1000;

/** The cost of texts in addition to the part that shows them. Short texts cost nothing. */
export function costOfText(length: number): number {
  return Math.floor(length / charactersOfOne);
}

/** Returns what `make` makes; null if it exceeds a budget. */
export function withinBudget<Made>(make: () => Made): Made | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondBudget) return null;
    throw error;
  }
}
