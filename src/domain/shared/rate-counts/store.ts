import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/**
 * Counts that every process of the installation shares, each within a window of time. They are kept in an unlogged table, so
 * a crash of the database resets them. Every statement locks the rows in the order of their keys, which prevents deadlocks.
 */

/** What is counted, and how often it may happen within a window. */
export interface RateLimit {
  readonly key: string;
  readonly maximum: number;
  /** The window begins with the first occurrence. */
  readonly windowMs: number;
}

/** The count of a key in the current window. */
export interface RateCount {
  readonly key: string;
  readonly count: number;
  /** PostgreSQL's text of the time at which the window ends. */
  readonly endsAt: string;
  /** The seconds until the window ends. */
  readonly seconds: number;
}

/** Counts one more occurrence of each key, even beyond its limit. Returns the counts in the order of the limits. */
export async function incrementCounts(em: Em, limits: readonly RateLimit[]): Promise<RateCount[]> {
  const sorted = [...limits].sort((one, other) => (one.key < other.key ? -1 : 1));
  const rows = await db(em)
    .insertInto('rate_counts')
    .values(
      sorted.map(({ key, windowMs }) => ({
        key,
        count: 1,
        endsAt: sql<string>`clock_timestamp() + ${windowMs}::int * interval '1 millisecond'`,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const isOpen = eb('rate_counts.endsAt', '>', sql<string>`clock_timestamp()`);
        return {
          count: eb
            .case()
            .when(isOpen)
            .then(eb('rate_counts.count', '+', 1))
            .else(1)
            .end(),
          endsAt: eb.case().when(isOpen).then(eb.ref('rate_counts.endsAt')).else(eb.ref('excluded.endsAt')).end(),
        };
      }),
    )
    .returning((eb) => [
      'key',
      'count',
      'endsAt',
      sql<number>`extract(epoch from ${eb.ref('endsAt')} - clock_timestamp())::float8`.as('seconds'),
    ])
    .execute();
  return limits.map(({ key }) => {
    const row = rows.find((each) => each.key === key);
    if (!row) throw new Error('counting a request against its rate limit returned no row');
    return row;
  });
}

/** Takes one occurrence back from each count, unless its window has ended since. */
export async function decrementCounts(em: Em, counts: readonly RateCount[]): Promise<void> {
  const locked = db(em)
    .selectFrom('rate_counts')
    .where('count', '>', 0)
    .where((eb) =>
      eb.or(
        counts.map(({ key, endsAt }) =>
          eb.and([eb('key', '=', key), eb('endsAt', '=', sql<string>`${endsAt}::timestamptz`)]),
        ),
      ),
    )
    .orderBy('key')
    .select('key')
    .forUpdate();
  await db(em)
    .updateTable('rate_counts')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('key', 'in', locked)
    .execute();
}

/** The count of one process, within a window that all processes compute in the same way. */
export interface LocalCount {
  /** The key contains the window. */
  readonly key: string;
  readonly count: number;
  readonly endsAt: Date;
}

/** Adds local counts to the shared ones; returns the total of all processes for each key. */
export async function addCounts(em: Em, counts: readonly LocalCount[]): Promise<Map<string, number>> {
  const keys = counts.map(({ key }) => key);
  const amounts = counts.map(({ count }) => count);
  const ends = counts.map(({ endsAt }) => endsAt.toISOString());
  const added = sql<LocalCountRow>`unnest(${keys}::text[], ${amounts}::int[], ${ends}::timestamptz[])`;
  const rows = await db(em)
    .insertInto('rate_counts')
    .columns(['key', 'count', 'endsAt'])
    .expression((eb) =>
      eb
        .selectFrom(added.as<'added'>(sql`added(key, count, ends_at)`))
        .select(['added.key', 'added.count', 'added.endsAt'])
        .orderBy('added.key'),
    )
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({
        count: eb('rate_counts.count', '+', eb.ref('excluded.count')),
      })),
    )
    .returning(['key', 'count'])
    .execute();
  return new Map(rows.map(({ key, count }) => [key, count]));
}

interface LocalCountRow {
  readonly key: string;
  readonly count: number;
  readonly endsAt: string;
}

/** Deletes the counts whose windows have ended. Locked rows are left for the next call. */
export async function deleteExpiredCounts(em: Em): Promise<void> {
  const expired = db(em)
    .selectFrom('rate_counts')
    .where('endsAt', '<', sql<string>`clock_timestamp()`)
    .orderBy('key')
    .select('key')
    .forUpdate()
    .skipLocked();
  await db(em).deleteFrom('rate_counts').where('key', 'in', expired).execute();
}
