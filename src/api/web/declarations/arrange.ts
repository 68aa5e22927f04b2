/** Something that stands behind another one, if it does not stand where its area does. */
interface Placed {
  /** The name of the other one. */
  readonly after?: string;
}

/** Puts each behind the one that it names. All others stay in their order. @throws Error if one names nothing in the list */
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
