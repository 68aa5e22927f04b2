/** The rows of the inbox that the reader sees. */
export interface ShownRows {
  readonly shown: number;
  /** The id of the last row; empty if there was none. Ids ascend with time. */
  readonly last: string;
}

/** Describes how the inbox differs from the rows on the page: "2 new, 1 no longer waits". Null if nothing differs. */
export function describeNews({ shown, last }: ShownRows, ids: readonly string[], hasMore: boolean): string | null {
  const still = ids.filter((id) => id <= last).length;
  const gone = Number.isSafeInteger(shown) ? Math.max(0, shown - still) : 0;
  // If there are more rows than fit on a page, the new ones cannot be counted.
  const fresh = hasMore ? 0 : ids.length - still;
  const news = [
    fresh > 0 ? `${fresh} new` : null,
    gone > 0 ? `${gone} no longer ${gone === 1 ? 'waits' : 'wait'}` : null,
  ].filter((each) => each !== null);
  return news.length > 0 ? news.join(', ') : null;
}
