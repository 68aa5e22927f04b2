const numbered = / \(\d+\)$/;

/**
 * Adds a number to each text that equals an earlier one, so that all texts differ. It remembers the last number of each text, so that it
 * tries no number twice.
 */
export class DistinctTexts {
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** A text that already ends with a number keeps it, unless another text has the same. */
  add(text: string): string {
    const plain = text.replace(numbered, '');
    let distinct = text;
    let number = this.#numbers.get(plain) ?? 1;
    while (this.#taken.has(distinct)) distinct = `${plain} (${++number})`;
    this.#numbers.set(plain, number);
    this.#taken.add(distinct);
    return distinct;
  }
}
