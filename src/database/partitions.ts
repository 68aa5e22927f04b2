import type { EntityManager as Em } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queriesOf } from './queries.ts';

/** Tables that only grow. They are partitioned into months (UTC) by the time of their rows, or by ids that begin with a time. */
export const monthlyTables = [
  'audit_records',
  'domain_events',
  'run_log_chunks',
  'run_plans',
  'webhook_deliveries',
] as const;
export type MonthlyTable = (typeof monthlyTables)[number];

const monthsAhead = 3;
/** How long a change of partitions waits for a lock. While it waits for transactions that use the table, all later ones wait behind it. */
const limitLockWait = sql`set local lock_timeout = '500ms'`;

/**
 * Creates the partitions of all these tables from this month on, and of earlier months that have rows without a partition. Idempotent, and
 * cheap to repeat. @throws 55P03 if a table is too busy at this moment; the others have theirs
 */
export async function makePartitions(em: Em, now = new Date()): Promise<void> {
  const failures: unknown[] = [];
  for (const table of monthlyTables)
    await makePartitionsOf(em, table, now).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function makePartitionsOf(em: Em, table: MonthlyTable, now: Date): Promise<void> {
  await em.transactional(async (tx) => {
    const db = queriesOf(tx);
    await limitLockWait.execute(db);
    await sql`select make_month_partitions(${table}, ${now}::timestamptz, ${monthsAhead})`.execute(db);
  });
}

/** The first day of the oldest month for which a table still has a partition; -infinity if it has none by month. */
export function oldestMonth(table: MonthlyTable) {
  return sql<string>`(select coalesce(min(to_date(right(c.relname, 7), 'YYYY_MM')), '-infinity'::date)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = ${sql.lit(table)}::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$')`;
}

/** The time before which retention has removed the rows of a table; null if it has no month yet. */
export async function findRemovedBefore(em: Em, table: MonthlyTable): Promise<Date | null> {
  const { rows } = await sql<{ at: string | null }>`
    select nullif(${oldestMonth(table)}, '-infinity'::date)::timestamp at time zone 'UTC' as at`.execute(queriesOf(em));
  return rows[0]?.at ? new Date(rows[0].at) : null;
}

/** The months of a table that had ended before a moment, oldest first, as `2026-01`. */
export async function findMonthsBefore(em: Em, table: MonthlyTable, moment: Date): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    select replace(right(c.relname, 7), '_', '-') as month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ${table}::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$' order by 1`.execute(queriesOf(em));
  return rows.map(({ month }) => month).filter((month) => endOfMonth(month) <= moment);
}

/** The name of the partition for a month such as `2026-01`. */
export function partitionOf(table: MonthlyTable, month: string): string {
  return `${table}_${month.replace('-', '_')}`;
}

/**
 * Drops the partition of a month, inside the caller's transaction, and returns its number of rows. Undefined if another process has dropped
 * it or is about to. `beforeDrop` can save something of it.
 * @throws 55P03 if the table is too busy at this moment
 */
export async function dropMonth(
  tx: Em,
  table: MonthlyTable,
  month: string,
  beforeDrop?: (tx: Em, month: string) => Promise<void>,
): Promise<number | undefined> {
  const db = queriesOf(tx);
  const name = partitionOf(table, month);
  await limitLockWait.execute(db);
  const { rows: locks } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/removal of ' || ${name}, 0))
       and to_regclass(${name}) is not null as "isOurs"`.execute(db);
  if (!locks[0]?.isOurs) return undefined;
  const { rows: counts } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(name)}`.execute(
    db,
  );
  await beforeDrop?.(tx, month);
  await sql`drop table ${sql.table(name)}`.execute(db);
  return counts[0]?.count ?? 0;
}

/** The first moment after a month such as `2026-01`. */
export function endOfMonth(month: string): Date {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1));
}
