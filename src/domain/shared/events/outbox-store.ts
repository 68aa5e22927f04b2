import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { OutboxPayload } from './outbox.ts';

/** A row of the outbox whose delivery is due. */
export interface DueEntry {
  readonly id: string;
  readonly target: string;
  readonly payload: OutboxPayload;
}

/**
 * Locks the rows of a subscriber that are due, oldest first, for the rest of the transaction. It leaves out those that wait for
 * an older row of the same target, and those that another process has locked.
 */
export function lockDueEntries(em: Em, subscriber: string, limit: number): Promise<DueEntry[]> {
  return db(em)
    .selectFrom('outbox as o')
    .where('o.subscriber', '=', subscriber)
    .where('o.due_at', '<=', sql<string>`now()`)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('outbox as older')
            .whereRef('older.subscriber', '=', 'o.subscriber')
            .whereRef('older.target', '=', 'o.target')
            .whereRef('older.id', '<', 'o.id')
            .select('older.id'),
        ),
      ),
    )
    .select(['o.id', 'o.target', 'o.payload'])
    .orderBy('o.id')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Removes delivered rows. */
export async function removeEntries(em: Em, ids: readonly string[]): Promise<void> {
  await db(em)
    .deleteFrom('outbox')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute();
}

/** 2⁵ seconds: half a minute. */
const longestBackoffExponent = 5;

/** Puts a failed delivery off: by one second at first, by twice as long each time, by half a minute at most. */
export async function postponeEntry(em: Em, id: string, reason: string): Promise<void> {
  await db(em)
    .updateTable('outbox')
    .set((eb) => ({
      attempts: eb('attempts', '+', 1),
      last_error: reason.slice(0, 500),
      due_at: sql<string>`now() + make_interval(secs => power(2, least(${eb.ref('attempts')}, ${longestBackoffExponent})))`,
    }))
    .where('id', '=', id)
    .execute();
}
