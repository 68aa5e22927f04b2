import type { Em } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';

/**
 * Counts that every process of the installation shares, each within a window of time that ends. They are kept in an
 * unlogged table: a crash of the database forgets them. Rows are locked in the order of their keys, whoever writes them.
 */

/** One more of something that may happen so often within a window. */
export interface Taking {
  readonly key: string;
  readonly most: number;
  /** The window opens with the first that is taken. */
  readonly windowMs: number;
}

/** What was taken of a limit, in the window that it was taken in. */
export interface Taken {
  readonly key: string;
  readonly count: number;
  readonly endsAt: string;
  /** Until the window ends. */
  readonly seconds: number;
}

/** Counts one more under each key, also beyond its limit; answers what each has come to, in the order that was asked. */
export async function take(em: Em, takings: readonly Taking[]): Promise<Taken[]> {
  const sorted = [...takings].sort((one, other) => (one.key < other.key ? -1 : 1));
  const rows = await em.execute<{ key: string; count: number; ends_at: string; seconds: number }[]>(
    `insert into rate_counts as c (key, count, ends_at)
     values ${sorted.map(() => `(?, 1, clock_timestamp() + ?::int * interval '1 millisecond')`).join(', ')}
     on conflict (key) do update set
       count = case when c.ends_at > clock_timestamp() then c.count + 1 else 1 end,
       ends_at = case when c.ends_at > clock_timestamp() then c.ends_at else excluded.ends_at end
     returning key, count, ends_at::text, extract(epoch from ends_at - clock_timestamp())::float8 as seconds`,
    sorted.flatMap(({ key, windowMs }) => [key, windowMs]),
  );
  return takings.map(({ key }) => {
    const row = rows.find((each) => each.key === key);
    if (!row) throw new Error('a count that was just made is not there');
    return { key, count: row.count, endsAt: row.ends_at, seconds: row.seconds };
  });
}

/** Gives back what was taken, unless its window has ended since. */
export async function giveBack(em: Em, taken: readonly Taken[]): Promise<void> {
  const ours = taken.map(() => '(key = ? and ends_at = ?::timestamptz)').join(' or ');
  await em.execute(
    `update rate_counts set count = count - 1
      where key in (select key from rate_counts where count > 0 and (${ours}) order by key for update)`,
    taken.flatMap(({ key, endsAt }) => [key, endsAt]),
  );
}

/** Something that was counted elsewhere, within a window that everybody knows without asking. */
export interface Addition {
  /** Names the window too; letters, digits, `.`, `:` and `-` only. */
  readonly key: string;
  readonly count: number;
  readonly endsAt: Date;
}

/** Adds to each key what was counted of it; answers what all processes have come to together. */
export async function add(em: Em, additions: readonly Addition[]): Promise<Map<string, number>> {
  const rows = await em.execute<{ key: string; count: number }[]>(
    `insert into rate_counts as c (key, count, ends_at)
     select key, count, ends_at from unnest(?::text[], ?::int[], ?::timestamptz[]) as a (key, count, ends_at) order by key
     on conflict (key) do update set count = c.count + excluded.count
     returning key, count`,
    [
      pgArray(additions.map(({ key }) => key)),
      pgArray(additions.map(({ count }) => String(count))),
      pgArray(additions.map(({ endsAt }) => endsAt.toISOString())),
    ],
  );
  return new Map(rows.map(({ key, count }) => [key, count]));
}

/** Removes the counts whose windows have ended; those that somebody works with at this moment are left to the next time. */
export async function sweepCounts(em: Em): Promise<void> {
  await em.execute(
    `delete from rate_counts where key in
       (select key from rate_counts where ends_at < clock_timestamp() order by key for update skip locked)`,
  );
}
