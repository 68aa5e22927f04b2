/** What the reader of the inbox was shown. */
export interface ShownRows {
  readonly shown: number;
  /** The id of the last row; empty if there was none. Ids ascend with time. */
  readonly last: string;
}

/** How the inbox differs from what was shown: "2 new, 1 no longer waits". Null: it does not. */
export function describeNews({ shown, last }: ShownRows, ids: readonly string[], hasMore: boolean): string | null {
  const still = ids.filter((id) => id <= last).length;
  const gone = Number.isSafeInteger(shown) ? Math.max(0, shown - still) : 0;
  // Behind a full page, the page cannot tell which rows are new.
  const fresh = hasMore ? 0 : ids.length - still;
  const news = [
    fresh > 0 ? `${fresh} new` : null,
    gone > 0 ? `${gone} no longer ${gone === 1 ? 'waits' : 'wait'}` : null,
  ].filter((each) => each !== null);
  return news.length > 0 ? news.join(', ') : null;
}
