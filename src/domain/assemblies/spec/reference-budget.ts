import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/**
 * The maximum that the references of one node, or of all outputs of an assembly, may resolve to together: as much as variables may have.
 */
const limits = { values: 20_000, bytes: 1024 * 1024 };

export const budgetInWords = `1 MiB or ${limits.values.toLocaleString('en')} values`;

export interface BudgetLimits {
  readonly values: number;
  readonly bytes: number;
}

/**
 * Counts the values of references before anything is built from them. A spec may repeat a reference to a large value very often, so the
 * result may be thousands of times larger than the spec and the value.
 */
export class ReferenceBudget {
  readonly #limits: BudgetLimits;
  #values = 0;
  #bytes = 0;

  constructor(max: BudgetLimits = limits) {
    this.#limits = max;
  }

  /** Counts a value. Returns false from the moment when the limit is exceeded; counting stops there. */
  pay(value: JsonValue): boolean {
    const open = [value];
    while (open.length > 0 && this.#isLeft()) {
      const next = open.pop();
      this.#values += 1;
      if (typeof next === 'string') this.#bytes += Buffer.byteLength(next);
      if (next instanceof Decimal) this.#bytes += next.text.length;
      if (typeof next !== 'object' || next === null || next instanceof Decimal) continue;
      for (const [name, member] of Object.entries(next)) {
        if (!Array.isArray(next)) this.#bytes += Buffer.byteLength(name);
        open.push(member);
      }
    }
    return this.#isLeft();
  }

  #isLeft(): boolean {
    return this.#values <= this.#limits.values && this.#bytes <= this.#limits.bytes;
  }
}
