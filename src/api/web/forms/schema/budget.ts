/** Something would be larger than its budget allows. */
export class BeyondBudget extends Error {}

/** How much more may be made. Everything in one form spends from the same budget before it is made, so that nothing multiplies. */
export class Budget {
  #left: number;

  constructor(left: number) {
    this.#left = Math.max(0, left);
  }

  get left(): number {
    return this.#left;
  }

  /** Spends the cost, or nothing if there is less left. */
  spend(cost: number): boolean {
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }

  /** @throws BeyondBudget */
  demand(cost: number): void {
    if (!this.spend(cost)) throw new BeyondBudget();
  }

  /** Pays for what was already made, such as texts. If it was too much, nothing is left, so that it is not tried again. @throws BeyondBudget */
  charge(cost: number): void {
    if (this.spend(cost)) return;
    this.#left = 0;
    throw new BeyondBudget();
  }
}

const charactersOfOne = 1000;

/** What texts cost, beside the part that shows them: short ones nothing. */
export function costOfText(length: number): number {
  return Math.floor(length / charactersOfOne);
}

/** What was made, or null if it would go beyond a budget. */
export function withinBudget<Made>(make: () => Made): Made | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondBudget) return null;
    throw error;
  }
}
