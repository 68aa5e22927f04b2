/** An item that may name another one that it follows. Otherwise, its place is that of its area. */
interface Placed {
  /** The name of the item that it follows. */
  readonly after?: string;
}

/** Puts each item after the one that it names. The others keep their order. @throws Error if an item names one that is not in the list */
export function arrange<Item extends Placed>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  const withFollowers = (item: Item): Item[] => [
    item,
    ...items.filter(({ after }) => after === nameOf(item)).flatMap(withFollowers),
  ];
  const arranged = items.filter(({ after }) => after === undefined).flatMap(withFollowers);
  const lost = items.find((item) => !arranged.includes(item));
  if (lost) throw new Error(`${nameOf(lost)} follows ${lost.after}, which is not in the list`);
  return arranged;
}
