import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** What the references of one node, or of all outputs of an assembly, may give together: as much as variables may be. */
const limits = { values: 20_000, bytes: 1024 * 1024 };

export const budgetInWords = `1 MiB or ${limits.values.toLocaleString('en')} values`;

export interface BudgetLimits {
  readonly values: number;
  readonly bytes: number;
}

/**
 * Counts what references give, before anything is made of it. A spec may repeat a reference to a large value as often as it has
 * space, so what it makes may be thousands of times larger than the spec and the value.
 */
export class ReferenceBudget {
  readonly #limits: BudgetLimits;
  #values = 0;
  #bytes = 0;

  constructor(max: BudgetLimits = limits) {
    this.#limits = max;
  }

  /** Counts a value. Returns false once there is too much, then and for ever; the count goes no further than that. */
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
