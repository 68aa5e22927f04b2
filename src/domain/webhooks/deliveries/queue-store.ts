import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** How long a worker may send the deliveries of a webhook before another one takes over. It is longer than any of its tries takes. */
const leaseSeconds = 60;

const now = sql<string>`now()`;

/** Lets the queue of a webhook be looked at at once. */
export async function wakeQueue(em: Em, webhookId: string): Promise<void> {
  await db(em).updateTable('webhook_queues').set({ next_at: now }).where('webhook_id', '=', webhookId).execute();
}

/**
 * Sends what waits at once, and forgets since when nothing could be delivered: that was before somebody enabled the webhook or gave it another
 * address, and must not disable it again.
 */
export async function beginAnew(em: Em, webhookId: string): Promise<void> {
  const database = db(em);
  await database
    .updateTable('webhook_deliveries')
    .set({ due_at: now })
    .where('webhook_id', '=', webhookId)
    .where('status', '=', 'pending')
    .where('due_at', '>', now)
    .execute();
  await database
    .updateTable('webhook_queues')
    .set({ next_at: now, failing_since: null, problem: null })
    .where('webhook_id', '=', webhookId)
    .execute();
}

/** A queue that this process may work on until its lease ends. */
export interface LeasedQueue {
  readonly webhookId: string;
  /** Nothing could be delivered lately. */
  readonly isFailing: boolean;
}

/** Leases queues in which a delivery is due, those that have waited longest first. What a killed worker had leased is free after its lease. */
export async function leaseQueues(em: Em, limit: number): Promise<LeasedQueue[]> {
  const database = db(em);
  const due = database
    .selectFrom('webhook_queues as q')
    .innerJoin('webhooks as w', 'w.id', 'q.webhook_id')
    .where('w.is_enabled', '=', true)
    .where('q.next_at', '<=', now)
    .where((eb) => eb.or([eb('q.leased_until', 'is', null), eb('q.leased_until', '<', now)]))
    .orderBy('q.next_at')
    .limit(limit)
    .select('q.webhook_id')
    .forUpdate('q')
    .skipLocked();
  return database
    .updateTable('webhook_queues')
    .set({ leased_until: sql<string>`now() + make_interval(secs => ${leaseSeconds})` })
    .where('webhook_id', 'in', due)
    .returning((eb) => [
      'webhook_id as webhookId',
      eb('failing_since', 'is not', null).$castTo<boolean>().as('isFailing'),
    ])
    .execute();
}

/**
 * Ends a lease, and notes when the next delivery is due, but not before `pauseMs` are over. The row is locked first: a fan-out that adds
 * deliveries locks it, too, so the look at the queue sees what it has added, or the fan-out sets the time again.
 */
export async function releaseQueue(em: Em, webhookId: string, pauseMs: number): Promise<void> {
  await em.transactional(async (tx) => {
    const database = db(tx);
    await database
      .selectFrom('webhook_queues')
      .where('webhook_id', '=', webhookId)
      .select('webhook_id')
      .forUpdate()
      .execute();
    const next = database
      .selectFrom('webhook_deliveries as d')
      .where('d.webhook_id', '=', webhookId)
      .where('d.status', '=', sql.lit('pending'))
      .select((eb) =>
        sql<string>`greatest(${eb.fn.min('d.due_at')}, now() + make_interval(secs => ${pauseMs / 1000}))`.as('next_at'),
      );
    const hasNext = database
      .selectFrom('webhook_deliveries as d')
      .where('d.webhook_id', '=', webhookId)
      .where('d.status', '=', sql.lit('pending'))
      .select('d.id');
    await database
      .updateTable('webhook_queues')
      .set((eb) => ({
        leased_until: null,
        next_at: sql<string>`case when ${eb.exists(hasNext)} then ${next} end`,
      }))
      .where('webhook_id', '=', webhookId)
      .execute();
  });
}

/** Notes why an endpoint did not take a delivery, or that it did (null); answers since when it has taken none. */
export async function noteTry(em: Em, webhookId: string, problem: string | null): Promise<string | null> {
  const row = await db(em)
    .updateTable('webhook_queues')
    .set((eb) => ({ problem, failing_since: problem === null ? null : eb.fn.coalesce('failing_since', now) }))
    .where('webhook_id', '=', webhookId)
    .returning('failing_since as failingSince')
    .executeTakeFirst();
  return row?.failingSince ?? null;
}
