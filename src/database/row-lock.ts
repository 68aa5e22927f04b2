import type { Em } from './database.ts';

/**
 * How a lookup locks what it finds until the commit: `true` shares the row and all that owns it against change, as
 * whoever relies on them needs; `'change'` takes the row itself for a change and shares its owners.
 */
export type RowLock = boolean | 'change';

/** What a target resolver passes on where its operation changes the row: a lock to change it, inside a command. */
export function toChange(lock: boolean): RowLock {
  return lock && 'change';
}

/**
 * The first row of a query that may lock. What was transferred while the query waited for a lock is not found under its
 * former owner any more, and so is looked for once again, under its present one.
 */
export async function findRow<Row extends object>(
  em: Em,
  lock: RowLock,
  sql: string,
  params: readonly unknown[],
): Promise<Row | undefined> {
  const look = async () => (await em.execute<Row[]>(sql, [...params]))[0];
  return (await look()) ?? (lock ? look() : undefined);
}

/** The locking clause of a query over tables given from the outermost owner to the thing itself, locked in that order. */
export function lockClause(aliases: readonly string[], lock: RowLock): string {
  if (!lock) return '';
  if (lock === true) return ` for share of ${aliases.join(', ')}`;
  const owners = aliases.slice(0, -1);
  const shared = owners.length > 0 ? ` for share of ${owners.join(', ')}` : '';
  return `${shared} for no key update of ${aliases.at(-1)}`;
}
