const numbered = / \(\d+\)$/;

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

  /** A text that is numbered already keeps its number, unless another one has it. */
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
