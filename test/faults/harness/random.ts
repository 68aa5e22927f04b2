/** A reproducible source of random choices: the same seed makes the same choices in the same order. */
export interface Random {
  /** At least `low`, less than `high`. */
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
  chance(probability: number): boolean;
}

/** Opens a separate source for each purpose, so that choices for one do not change the choices for another. */
export function openRandom(seed: number, purpose: string): Random {
  let state = seed >>> 0;
  for (const character of purpose) state = (Math.imul(state ^ character.charCodeAt(0), 16_777_619) + 1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + next() * (high - low);
  const whole = (low: number, high: number) => Math.floor(between(low, high + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[whole(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  const shuffle = <Item>(items: readonly Item[]): Item[] => {
    const left = [...items];
    return items.map(() => left.splice(whole(0, left.length - 1), 1)[0] as Item);
  };
  return { between, whole, pick, shuffle, chance: (probability) => next() < probability };
}
