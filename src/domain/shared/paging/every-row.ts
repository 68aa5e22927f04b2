import { zeroId } from '../ids.ts';

/** A page of rows in the order of their ids: those after an id. */
export interface IdPage {
  readonly after: string;
  readonly limit: number;
}

/** Yields all rows that a search by pages finds. It searches the next page once the caller has processed the rows of the one before. */
export async function* everyRow<Row extends { readonly id: string }>(
  find: (page: IdPage) => Promise<readonly Row[]>,
  limit: number,
): AsyncGenerator<Row> {
  let after = zeroId;
  for (;;) {
    const page = await find({ after, limit });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = last.id;
  }
}
