import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

const now = sql<string>`now()`;

/** Makes workers check the queue of a webhook at once. */
export async function wakeQueue(em: Em, webhookId: string): Promise<void> {
  await db(em).updateTable('webhook_queues').set({ nextAt: now }).where('webhookId', '=', webhookId).execute();
}

/** Records that a webhook hears from now on. The caller has locked its row. */
export async function noteEnabled(em: Em, id: string): Promise<void> {
  // Events have the time of their transactions in milliseconds, and the one that enables the webhook is heard.
  const began = sql<string>`date_trunc('milliseconds', now())`;
  await db(em).updateTable('webhooks').set({ enabledAt: began }).where('id', '=', id).execute();
}

/**
 * Makes all pending deliveries due at once, and forgets earlier failures. They happened before somebody enabled the webhook or changed its
 * address, and must not disable it again.
 */
export async function beginAnew(em: Em, webhookId: string): Promise<void> {
  const database = db(em);
  await database
    .updateTable('webhook_deliveries')
    .set({ dueAt: now })
    .where('webhookId', '=', webhookId)
    .where('status', '=', 'pending')
    .where('dueAt', '>', now)
    .execute();
  await database
    .updateTable('webhook_queues')
    .set({ nextAt: now, failingSince: null, problem: null, isProven: false, failures: 0, quietUntil: null })
    .where('webhookId', '=', webhookId)
    .execute();
}

/**
 * Ends a lease, and records when the next delivery is due: no earlier than the end of the pause after a failure. It locks the row first, as
 * a fan-out that adds deliveries does. So either this function sees the added deliveries, or the fan-out sets the time afterwards.
 */
export async function releaseQueue(em: Em, webhookId: string): Promise<void> {
  await em.transactional(async (tx) => {
    const database = db(tx);
    await database
      .selectFrom('webhook_queues')
      .where('webhookId', '=', webhookId)
      .select('webhookId')
      .forUpdate()
      .execute();
    const next = database
      .selectFrom('webhook_deliveries as d')
      .where('d.webhookId', '=', webhookId)
      .where('d.status', '=', sql.lit('pending'))
      .select((eb) => eb.fn.min('d.dueAt').as('due_at'));
    await database
      .updateTable('webhook_queues')
      .set({
        leasedUntil: null,
        nextAt: sql<string>`(select case when n.due_at is not null then greatest(n.due_at, quiet_until) end from (${next}) n)`,
      })
      .where('webhookId', '=', webhookId)
      .execute();
  });
}

/** The longest pause between two tries at a failing endpoint, for any number of waiting messages. */
const maxPauseSeconds = 300;

/**
 * Records the result of a try; `problem` is null if it succeeded. Returns the time since which every try has failed; null if this one
 * succeeded. Each failure in a row doubles the pause, from one second to five minutes.
 */
export async function noteTry(em: Em, webhookId: string, problem: string | null): Promise<string | null> {
  const pauseSeconds = sql`least(${maxPauseSeconds}, power(2, least(failures, 20)))`;
  const row = await db(em)
    .updateTable('webhook_queues')
    .set((eb) =>
      problem === null
        ? { problem, failingSince: null, isProven: true, failures: 0, quietUntil: null }
        : {
            problem,
            failingSince: eb.fn.coalesce('failingSince', now),
            failures: eb('failures', '+', 1),
            quietUntil: sql<string>`now() + make_interval(secs => ${pauseSeconds})`,
          },
    )
    .where('webhookId', '=', webhookId)
    .returning('failingSince')
    .executeTakeFirst();
  return row?.failingSince ?? null;
}
