import { type EntityClass, type FilterQuery, LockMode } from '@mikro-orm/core';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Em } from './database.ts';

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

/*
 * A command reads an entity for a change by one of the three functions below. Each reads the row from the database, even if the transaction
 * has read the entity before: while it waited for the lock, another transaction may have changed the row. MikroORM keeps the entity as it was
 * first read, and writes only values that differ from that. A value that equals the old one would not be written, and two transactions would
 * raise a revision to the same number.
 */

/** Locks a row until the commit, and reads its entity. Null if there is no such row. */
export function lockForChange<Row extends object>(
  em: Em,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row | null> {
  return em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Reads the entity of a row that the caller has locked, or that is protected by another lock of the caller. Null if there is no such row. */
export function findForChange<Row extends object>(
  em: Em,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row | null> {
  return em.findOne(entity, where, { refresh: true });
}

/** `findForChange` for a row that the caller has found before. @throws Error if the row is missing */
export function readForChange<Row extends object>(
  em: Em,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row> {
  return em.findOneOrFail(entity, where, { refresh: true });
}
