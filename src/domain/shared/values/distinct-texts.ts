/**
 * Numbers texts that equal an earlier one, so that each stays one of its own. Each text keeps the number that it was given last, so that none is tried
 * twice.
 */
export class DistinctTexts {
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  add(text: string): string {
    let distinct = text;
    let number = this.#numbers.get(text) ?? 1;
    while (this.#taken.has(distinct)) distinct = `${text} (${++number})`;
    this.#numbers.set(text, number);
    this.#taken.add(distinct);
    return distinct;
  }
}
