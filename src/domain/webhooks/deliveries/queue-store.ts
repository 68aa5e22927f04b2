import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

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
    .set({ next_at: now, failing_since: null, problem: null, is_proven: false, failures: 0, quiet_until: null })
    .where('webhook_id', '=', webhookId)
    .execute();
}

/**
 * Ends a lease, and notes when the next delivery is due, but not before the pause after a failure is over. The row is locked first: a fan-out that
 * adds deliveries locks it, too, so the look at the queue sees what it has added, or the fan-out sets the time again.
 */
export async function releaseQueue(em: Em, webhookId: string): Promise<void> {
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
      .select((eb) => eb.fn.min('d.due_at').as('due_at'));
    await database
      .updateTable('webhook_queues')
      .set({
        leased_until: null,
        next_at: sql<string>`(select case when n.due_at is not null then greatest(n.due_at, quiet_until) end from (${next}) n)`,
      })
      .where('webhook_id', '=', webhookId)
      .execute();
  });
}

/** The longest pause between two tries of an endpoint that fails, however many messages wait for it. */
const longestPauseSeconds = 300;

/**
 * Records the result of a try; `problem` is null if it succeeded. Returns since when every try has failed. Each failure in a row doubles the pause, from
 * one second to five minutes.
 */
export async function noteTry(em: Em, webhookId: string, problem: string | null): Promise<string | null> {
  const pauseSeconds = sql`least(${longestPauseSeconds}, power(2, least(failures, 20)))`;
  const row = await db(em)
    .updateTable('webhook_queues')
    .set((eb) =>
      problem === null
        ? { problem, failing_since: null, is_proven: true, failures: 0, quiet_until: null }
        : {
            problem,
            failing_since: eb.fn.coalesce('failing_since', now),
            failures: eb('failures', '+', 1),
            quiet_until: sql<string>`now() + make_interval(secs => ${pauseSeconds})`,
          },
    )
    .where('webhook_id', '=', webhookId)
    .returning('failing_since as failingSince')
    .executeTakeFirst();
  return row?.failingSince ?? null;
}
