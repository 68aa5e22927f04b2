import type { EntityManager as Em } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queriesOf } from './queries.ts';

/** Tables that only grow. They are partitioned into months (UTC) by the time of their rows. */
export type MonthlyTable = 'audit_records' | 'run_log_chunks' | 'webhook_deliveries';

const monthsAhead = 3;
/**
 * A change of partitions waits no longer than this for those who use the table, because everybody else would have to wait
 * behind it.
 */
const limitLockWait = sql`set local lock_timeout = '500ms'`;

/**
 * Creates the partitions of logs, audit and deliveries of webhooks from this month on, and of earlier months that hold rows without a partition.
 * Idempotent, and cheap to repeat. @throws 55P03 where the tables are too busy at this moment
 */
export async function makePartitions(em: Em, now = new Date()): Promise<void> {
  await em.transactional(async (tx) => {
    const db = queriesOf(tx);
    await limitLockWait.execute(db);
    await sql`select make_month_partitions('audit_records', ${now}::timestamptz, ${monthsAhead})`.execute(db);
    await sql`select make_month_partitions('run_log_chunks', ${now}::timestamptz, ${monthsAhead})`.execute(db);
    await sql`select make_month_partitions('webhook_deliveries', ${now}::timestamptz, ${monthsAhead})`.execute(db);
  });
}

/** The first day of the oldest month that a table still has a partition for; -infinity if it has none by month. */
export function oldestMonth(table: MonthlyTable) {
  return sql<string>`(select coalesce(min(to_date(right(c.relname, 7), 'YYYY_MM')), '-infinity'::date)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = ${sql.lit(table)}::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$')`;
}

/** The months of a table that had ended before a moment, oldest first, as `2026-01`. */
export async function findMonthsBefore(em: Em, table: MonthlyTable, moment: Date): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    select replace(right(c.relname, 7), '_', '-') as month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ${table}::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$' order by 1`.execute(queriesOf(em));
  return rows.map(({ month }) => month).filter((month) => endOf(month) <= moment);
}

/**
 * Drops the partition of a month, inside the caller's transaction, and answers how many rows it had. Undefined where another
 * process has dropped it or is about to.
 * @throws 55P03 where the table is too busy at this moment
 */
export async function dropMonth(tx: Em, table: MonthlyTable, month: string): Promise<number | undefined> {
  const db = queriesOf(tx);
  const name = `${table}_${month.replace('-', '_')}`;
  await limitLockWait.execute(db);
  const { rows: locks } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/removal of ' || ${name}, 0))
       and to_regclass(${name}) is not null as "isOurs"`.execute(db);
  if (!locks[0]?.isOurs) return undefined;
  const { rows: counts } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(name)}`.execute(
    db,
  );
  await sql`drop table ${sql.table(name)}`.execute(db);
  return counts[0]?.count ?? 0;
}

function endOf(month: string): Date {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1));
}
