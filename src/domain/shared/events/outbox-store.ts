import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { OutboxPayload } from './outbox.ts';

/** A row of the outbox whose delivery is due. */
export interface DueEntry {
  readonly id: string;
  readonly target: string;
  readonly payload: OutboxPayload;
}

/** Which due rows a sweep takes. `suspect`: rows whose last delivery began and did not end, so that it may have killed its process. */
export type DueKind = 'suspect' | 'other';

/**
 * Takes due rows of a subscriber: it counts the attempt and postpones each row before the delivery. The caller commits this before it delivers, so that
 * a row whose delivery kills the process is tried less and less often. The oldest rows come first or, among suspects, those with the fewest
 * attempts. It leaves out rows that wait for an older row of the same target, and those that another process has locked.
 */
export async function takeDueEntries(em: Em, subscriber: string, kind: DueKind, limit: number): Promise<string[]> {
  const due = selectDue(em, subscriber, kind)
    .$if(kind === 'suspect', (query) => query.orderBy('o.attempts'))
    .orderBy('o.id')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  const taken = await db(em)
    .with('due', () => due)
    .updateTable('outbox')
    .from('due')
    .set((eb) => ({ attempts: eb('outbox.attempts', '+', 1), lastError: null }))
    .set((eb) => ({ dueAt: afterBackoff(eb.ref('outbox.attempts'), maxExponent.unended) }))
    .whereRef('outbox.id', '=', 'due.id')
    .returning('outbox.id')
    .execute();
  return taken.map(({ id }) => id);
}

function selectDue(em: Em, subscriber: string, kind: DueKind) {
  return db(em)
    .selectFrom('outbox as o')
    .where('o.subscriber', '=', subscriber)
    .where('o.dueAt', '<=', sql<string>`now()`)
    .where((eb) => {
      const isSuspect = eb.and([eb('o.attempts', '>', 0), eb('o.lastError', 'is', null)]);
      return kind === 'suspect' ? isSuspect : eb.not(isSuspect);
    })
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
    .select('o.id');
}

/**
 * Locks rows that were just taken, for the rest of the transaction. It leaves out those that another process has locked, or has delivered.
 */
export function lockTakenEntries(em: Em, ids: readonly string[]): Promise<DueEntry[]> {
  return db(em)
    .selectFrom('outbox as o')
    .where('o.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .select(['o.id', 'o.target', 'o.payload'])
    .orderBy('o.id')
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

/**
 * Limits of the delay, as exponents of two seconds: half a minute after a failure, about four minutes after a delivery that did not end.
 */
const maxExponent = { failed: 5, unended: 8 } as const;

/** When a row is due again: after one second at first, and after twice as long each further time, up to a limit. */
function afterBackoff(attempts: Expression<number>, longest: number) {
  return sql<string>`now() + make_interval(secs => power(2, least(${attempts}, ${longest})))`;
}

/** Records why a delivery failed, and postpones the row. The attempt was already counted when it began. */
export async function postponeEntry(em: Em, id: string, reason: string): Promise<void> {
  await db(em)
    .updateTable('outbox')
    .set((eb) => ({
      lastError: reason.slice(0, 500),
      dueAt: afterBackoff(eb('attempts', '-', 1), maxExponent.failed),
    }))
    .where('id', '=', id)
    .execute();
}
