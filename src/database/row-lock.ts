import { type SelectQueryBuilder, sql } from 'kysely';

/**
 * How a lookup locks what it finds until the commit. `true` shares the row and its owners against change, for a command that
 * relies on them; `'change'` locks the row itself for a change and shares its owners.
 */
export type RowLock = boolean | 'change';

/** Converts a resolver's `lock` flag: change lock inside a command, none outside. */
export function toChange(lock: boolean): RowLock {
  return lock && 'change';
}

/**
 * Locks the rows that a query finds. The tables are named from the outermost owner to the thing itself, and locked in that order.
 *
 * Before the rows, the statement takes an advisory lock for each of them in the same mode: PostgreSQL evaluates the selections of a
 * statement before it locks rows. Advisory locks are granted in the order of the requests, whereas new commands may share a row while
 * another transaction waits to change it. Without them, a caller that keeps sending commands could prevent the archiving of the row's
 * organization.
 */
export function lockRows<Db, From extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, From, Row>,
  tables: readonly (From & string)[],
  lock: RowLock,
): SelectQueryBuilder<Db, From, Row> {
  if (!lock) return query;
  const owners = lock === true ? tables : tables.slice(0, -1);
  const changed = lock === true ? [] : tables.slice(-1);
  const queue = [
    ...owners.map((table) => queueFor(table, 'shared')),
    ...changed.map((table) => queueFor(table, 'alone')),
  ];
  const queued = query.select(sql<string>`concat(${sql.join(queue)})`.as('queued')) as unknown as typeof query;
  const shared = owners.length > 0 ? queued.forShare(owners) : queued;
  return changed.length > 0 ? shared.forNoKeyUpdate(changed) : shared;
}

/** Takes the advisory lock of the row that a query finds in a table. */
function queueFor(table: string, mode: 'shared' | 'alone') {
  const take = mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  return sql`${take}(hashtextextended('delivery-coordinator/rows/' || ${sql.ref(`${table}.id`)}::text, 0))`;
}

/**
 * Runs a lookup that may lock. While it waits for a lock, a transfer may give the row another owner, so that the lookup does not find it.
 * It therefore looks once more, under the present owner.
 */
export async function findUnderLock<Row>(
  lock: RowLock,
  find: () => Promise<Row | undefined>,
): Promise<Row | undefined> {
  return (await find()) ?? (lock ? find() : undefined);
}
