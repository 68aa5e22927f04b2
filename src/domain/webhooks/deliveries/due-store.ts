import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type EventRow, type PublishedEvent, selectEvent, toEvent } from '#domain/shared/events/event-store.ts';
import { belongsElsewhere } from './present-owner.ts';
import type { Outcome } from './send.ts';

/** A delivery that is due, with its event. */
export interface DueDelivery {
  readonly id: string;
  readonly messageId: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly event: PublishedEvent;
  /** The subject now belongs to somebody else, so the message is not sent. */
  readonly belongsElsewhere: boolean;
}

/** The deliveries of a webhook that are due, those that wait longest first. The caller holds the lease of its queue. */
export async function findDue(em: Em, webhookId: string, limit: number): Promise<DueDelivery[]> {
  const rows = await db(em)
    .selectFrom('webhook_deliveries as d')
    .innerJoin('domain_events as e', 'e.id', 'd.event_id')
    .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .where('d.webhook_id', '=', webhookId)
    .where('d.status', '=', sql.lit('pending'))
    .where('d.due_at', '<=', sql<string>`now()`)
    .select(selectEvent)
    .select(['d.id as deliveryId', 'd.message_id as messageId', 'd.attempts', 'd.created_at as createdAt'])
    .select((eb) => belongsElsewhere(eb).as('belongsElsewhere'))
    .orderBy('d.due_at')
    .orderBy('d.id')
    .limit(limit)
    .execute();
  return rows.map(({ deliveryId, messageId, attempts, createdAt, belongsElsewhere: isElsewhere, ...event }) => ({
    id: deliveryId,
    messageId,
    attempts,
    createdAt,
    event: toEvent(event as EventRow),
    belongsElsewhere: isElsewhere,
  }));
}

/** What a try has come to, and when the next one is; null: there is none. */
export interface Settlement {
  readonly outcome: Outcome;
  readonly pauseMs: number | null;
}

/** Writes what a try has come to. */
export async function settleDelivery(
  em: Em,
  { id, createdAt }: Pick<DueDelivery, 'id' | 'createdAt'>,
  { outcome, pauseMs }: Settlement,
): Promise<void> {
  const status = outcome.problem === null ? 'delivered' : pauseMs === null ? 'failed' : 'pending';
  await db(em)
    .updateTable('webhook_deliveries')
    .set((eb) => ({
      status,
      attempts: eb('attempts', '+', 1),
      due_at: sql<string>`now() + make_interval(secs => ${(pauseMs ?? 0) / 1000})`,
      tried_at: sql<string>`now()`,
      answer_status: outcome.status,
      answer_ms: outcome.ms,
      answer_text: outcome.text,
      problem: outcome.problem,
    }))
    .where('id', '=', id)
    .where('created_at', '=', createdAt)
    .execute();
}

/** Ends a delivery without sending it, because its subject has another owner now. */
export async function withholdDelivery(
  em: Em,
  { id, createdAt }: Pick<DueDelivery, 'id' | 'createdAt'>,
): Promise<void> {
  await db(em)
    .updateTable('webhook_deliveries')
    .set({ status: 'withheld', problem: 'the subject of the event has another owner now, so nothing was sent' })
    .where('id', '=', id)
    .where('created_at', '=', createdAt)
    .execute();
}
