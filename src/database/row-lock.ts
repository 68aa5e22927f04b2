import type { SelectQueryBuilder } from 'kysely';

/**
 * How a lookup locks what it finds until the commit. `true` shares the row and its owners against change, for a command that
 * relies on them; `'change'` locks the row itself for a change and shares its owners.
 */
export type RowLock = boolean | 'change';

/** The lock for an operation that changes the row; a lookup outside a command locks nothing. */
export function toChange(lock: boolean): RowLock {
  return lock && 'change';
}

/** Locks the rows that a query finds. The tables are named from the outermost owner to the thing itself and locked in that order. */
export function lockRows<Db, From extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, From, Row>,
  tables: readonly (From & string)[],
  lock: RowLock,
): SelectQueryBuilder<Db, From, Row> {
  if (!lock) return query;
  if (lock === true) return query.forShare(tables);
  const owners = tables.slice(0, -1);
  const shared = owners.length > 0 ? query.forShare(owners) : query;
  return shared.forNoKeyUpdate(tables.slice(-1));
}

/**
 * Runs a lookup that may lock. While it waits for a lock, a transfer may give the row another owner, and then the lookup does
 * not find it; so it looks once again, under the present owner.
 */
export async function findUnderLock<Row>(
  lock: RowLock,
  find: () => Promise<Row | undefined>,
): Promise<Row | undefined> {
  return (await find()) ?? (lock ? find() : undefined);
}
