/** A source of choices that makes the same ones each time (mulberry32), so that every installation looks alike. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  isLikely(share: number): boolean {
    return this.fraction() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** This many different items, in their order. */
  some<Item>(items: readonly Item[], count: number): Item[] {
    const chosen = new Set<number>();
    while (chosen.size < Math.min(count, items.length)) chosen.add(this.between(0, items.length - 1));
    return items.filter((_, index) => chosen.has(index));
  }

  /** Hexadecimal digits, such as those of a cloud's ids. */
  hex(length: number): string {
    return Array.from({ length }, () => this.between(0, 15).toString(16)).join('');
  }
}
