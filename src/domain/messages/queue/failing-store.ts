import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** Where messages did not arrive lately. */

/** The longest pause before the next message to a destination that failed. */
const longestQuietMs = 10 * 60_000;

/** Notes that a try failed. Nothing else is sent to the destination for a while, whenever it was queued. */
export async function noteFailure(em: Em, destination: string, problem: string, pauseMs: number): Promise<void> {
  const seconds = Math.min(pauseMs, longestQuietMs) / 1000;
  const quietUntil = sql<string>`now() + make_interval(secs => ${seconds})`;
  await db(em)
    .insertInto('failing_destinations')
    .values({ destination, problem, failing_since: sql<string>`now()`, quiet_until: quietUntil })
    .onConflict((conflict) => conflict.column('destination').doUpdateSet({ problem, quiet_until: quietUntil }))
    .execute();
}

/** Notes that a message arrived. */
export async function forgetFailure(em: Em, destination: string): Promise<void> {
  await db(em).deleteFrom('failing_destinations').where('destination', '=', destination).execute();
}

/** Forgets the failures of what a text begins: all destinations of a channel, which has another address now or is deleted. */
export async function forgetFailuresBelow(em: Em, prefix: string): Promise<void> {
  await db(em)
    .deleteFrom('failing_destinations')
    .where(({ ref }) => sql<boolean>`starts_with(${ref('destination')}, ${prefix})`)
    .execute();
}

/** Forgets failures of destinations to which nothing was sent for long. */
export async function forgetOldFailures(em: Em, days: number): Promise<void> {
  await db(em)
    .deleteFrom('failing_destinations')
    .where('quiet_until', '<', sql<string>`now() - make_interval(days => ${days})`)
    .execute();
}
