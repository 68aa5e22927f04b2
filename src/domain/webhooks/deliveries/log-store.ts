import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { DeliveryStatus, ShownStatus, Try } from '../model.ts';
import { wakeQueue } from './queue-store.ts';

/** A delivery as the readers of its webhook see it. */
export type DeliveryDetails = RowOf<typeof selectDeliveries>;

export interface DeliveryFilter {
  readonly status?: ShownStatus | undefined;
  /** Only deliveries that were made at this time or later. */
  readonly from?: string | undefined;
  /** Only deliveries that were made before this time. */
  readonly to?: string | undefined;
}

/** A page of the deliveries of a webhook, newest first. */
export function listDeliveries(
  em: Em,
  webhookId: string,
  { status, from, to }: DeliveryFilter,
  request: PageRequest,
): Promise<Page<DeliveryDetails>> {
  const deliveries = selectDeliveries(em, webhookId)
    .$if(status !== undefined, (query) => query.where('d.status', '=', storedStatusOf(status)))
    .$if(status === 'pending', (query) => query.where('d.attempts', '=', 0))
    .$if(status === 'retrying', (query) => query.where('d.attempts', '>', 0))
    .$if(from !== undefined, (query) => query.where('d.createdAt', '>=', from ?? ''))
    .$if(to !== undefined, (query) => query.where('d.createdAt', '<', to ?? ''));
  return pageOf(deliveries, 'd.id', request);
}

function storedStatusOf(status: ShownStatus | undefined): DeliveryStatus {
  return status === undefined || status === 'retrying' ? 'pending' : status;
}

/** A delivery with its last tries. */
export interface TriedDelivery extends DeliveryDetails {
  readonly tries: readonly Try[];
}

export function readDelivery(em: Em, webhookId: string, id: string): Promise<TriedDelivery | undefined> {
  return selectDeliveries(em, webhookId).where('d.id', '=', id).select('d.tries').executeTakeFirst();
}

function selectDeliveries(em: Em, webhookId: string) {
  return (
    db(em)
      .selectFrom('webhook_deliveries as d')
      .leftJoin('webhook_queues as q', 'q.webhookId', 'd.webhookId')
      .where('d.webhookId', '=', webhookId)
      .select(['d.id', 'd.webhookId', 'd.eventId', 'd.eventType'])
      .select(['d.messageId', 'd.status', 'd.attempts', 'd.triedAt'])
      // When it is tried next: when it is due, but not before the pause after a failure of the endpoint is over.
      .select(sql<string>`greatest(d.due_at, q.next_at)`.as('nextAt'))
      // The delivery is due, but waits because the last try at the endpoint failed.
      .select(sql<boolean>`coalesce(q.next_at > now() and d.due_at <= now(), false)`.as('isPaused'))
      .select(['d.answerStatus', 'd.answerMs', 'd.answerText'])
      .select(['d.problem', 'd.createdAt'])
  );
}

/**
 * Sends the message of a delivery now. A pending delivery becomes due before all others. For one that has ended, another delivery of the
 * same message is created. Receivers recognize by the id of the message that they may already have received it. Returns the id of the
 * delivery.
 *
 * The requested try does not count toward the number of tries after which the service gives up.
 */
export async function repeatDelivery(em: Em, delivery: DeliveryDetails): Promise<string> {
  const { numUpdatedRows } = await db(em)
    .updateTable('webhook_deliveries')
    .set({
      dueAt: sql<string>`${firstDue(delivery.webhookId)} - interval '1 millisecond'`,
      triesByHand: sql<number>`least(tries_by_hand + 1, attempts)`,
    })
    .where('id', '=', delivery.id)
    .where('createdAt', '=', delivery.createdAt)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  const id = numUpdatedRows > 0n ? delivery.id : await addDelivery(em, delivery);
  await wakeQueue(em, delivery.webhookId);
  return id;
}

/** The earliest due time of the webhook's pending deliveries, or now if that is earlier. */
function firstDue(webhookId: string) {
  return sql`(select least(min(due_at), now()) from webhook_deliveries where webhook_id = ${webhookId} and status = 'pending')`;
}

async function addDelivery(em: Em, { webhookId, eventId, eventType, messageId }: DeliveryDetails): Promise<string> {
  const id = newId();
  await db(em)
    .insertInto('webhook_deliveries')
    .values({
      id,
      createdAt: sql<string>`now()`,
      dueAt: sql<string>`now()`,
      webhookId,
      eventId,
      eventType,
      messageId,
      status: 'pending',
      attempts: 0,
    })
    .execute();
  return id;
}
