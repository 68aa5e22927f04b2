import { expect } from 'vitest';
import type { Orm } from '#database/database.ts';

/** The number of statements in the database of a test that wait for locks. */
export async function countLockWaits(orm: Orm): Promise<number> {
  const [row] = await orm.em
    .fork()
    .execute<{ waiting: number }[]>(
      `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
  return row?.waiting ?? 0;
}

/** Waits until so many statements of the service wait for locks that the test holds. */
export async function awaitLockWaits(orm: Orm, count = 1): Promise<void> {
  await expect.poll(() => countLockWaits(orm), { interval: 20 }).toBeGreaterThanOrEqual(count);
}
