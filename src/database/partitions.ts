import type { EntityManager as Em } from '@mikro-orm/postgresql';

/** Tables that only grow, and are kept in months by the time of their rows (UTC). */
export type MonthlyTable = 'audit_records' | 'run_log_chunks';

const monthsAhead = 3;
/** Whoever changes partitions waits no longer than this for those who use them, as everybody else would wait behind it. */
const longestWait = `set local lock_timeout = '500ms'`;

/**
 * Makes the months of logs and audit from this one on, and those of rows that came before their month was there. Idempotent;
 * cheap to repeat. @throws 55P03 where the tables are too busy just now
 */
export async function makePartitions(em: Em, now = new Date()): Promise<void> {
  await em.transactional(async (tx) => {
    await tx.execute(longestWait);
    await tx.execute(`select make_month_partitions('audit_records', ?::timestamptz, ?)`, [now, monthsAhead]);
    await tx.execute(`select make_month_partitions('run_log_chunks', ?::timestamptz, ?)`, [now, monthsAhead]);
  });
}

/** The months of a table that had ended by a moment, oldest first, as `2026-01`. */
export async function findMonthsBefore(em: Em, table: MonthlyTable, moment: Date): Promise<string[]> {
  const rows = await em.execute<{ month: string }[]>(
    `select replace(right(c.relname, 7), '_', '-') as month
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = ?::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$' order by 1`,
    [table],
  );
  return rows.map(({ month }) => month).filter((month) => endOf(month) <= moment);
}

/**
 * Removes a month of a table with all its rows, inside the caller's transaction; answers how many they were. Undefined
 * where another process has done it, or is about to.
 * @throws 55P03 where the table is too busy just now
 */
export async function dropMonth(tx: Em, table: MonthlyTable, month: string): Promise<number | undefined> {
  const name = `${table}_${month.replace('-', '_')}`;
  await tx.execute(longestWait);
  const [state] = await tx.execute<[{ is_ours: boolean }]>(
    `select pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/removal of ' || ?, 0))
        and to_regclass(?) is not null as is_ours`,
    [name, name],
  );
  if (!state.is_ours) return undefined;
  const [counted] = await tx.execute<[{ rows: number }]>(`select count(*)::int as rows from "${name}"`);
  await tx.execute(`drop table "${name}"`);
  return counted.rows;
}

function endOf(month: string): Date {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1));
}
