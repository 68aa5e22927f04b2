import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** The destination of a message: its key, its channel if it has one, and its address. */
export interface MessageDestination {
  readonly destination: string;
  readonly channelId: string | null;
  readonly address: string | null;
}

/** The longest pause before the next message to a destination that failed. */
const maxQuietMs = 10 * 60_000;

/** Records that a message was not delivered. Until the pause is over, no other message is sent to its destination. */
export async function noteFailure(
  em: Em,
  { destination, channelId, address }: MessageDestination,
  problem: string,
  pauseMs: number,
): Promise<void> {
  const seconds = Math.min(pauseMs, maxQuietMs) / 1000;
  const quietUntil = sql<string>`now() + make_interval(secs => ${seconds})`;
  const row = { destination, channelId, address, problem, failingSince: sql<string>`now()` };
  await db(em)
    .insertInto('failing_destinations')
    .values({ ...row, quietUntil })
    .onConflict((conflict) => conflict.column('destination').doUpdateSet({ problem, quietUntil }))
    .execute();
}

/** Forgets the failures of a destination, because a message was delivered there, or because its address has changed. */
export async function forgetFailure(em: Em, destination: string): Promise<void> {
  await db(em).deleteFrom('failing_destinations').where('destination', '=', destination).execute();
}

/** Forgets the failures of all recipients of a channel, which has another address now or is deleted. */
export async function forgetFailuresOf(em: Em, channelId: string): Promise<void> {
  await db(em).deleteFrom('failing_destinations').where('channelId', '=', channelId).execute();
}

/** Forgets the destinations to which nothing was sent for this number of days. */
export async function forgetOldFailures(em: Em, days: number): Promise<void> {
  await db(em)
    .deleteFrom('failing_destinations')
    .where('quietUntil', '<', sql<string>`now() - make_interval(days => ${days})`)
    .execute();
}
