import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { JsonText } from '#database/tables.ts';
import type { AuditRecord } from '#domain/audit/model.ts';
import { readRecords } from '#domain/audit/store.ts';
import { db } from '#domain/db.ts';
import { type EventRow, selectEvent, toEvent } from '#domain/shared/events/event-store.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { type Settlement, settledColumns } from '#domain/shared/sending/settlement.ts';
import { auditStream, keptTries, matchesEvent, subscribesToAudit, type Try } from '../model.ts';
import type { Outcome } from './send.ts';
import { belongsElsewhere } from './subject-owner.ts';

/** A due delivery with its content. */
export interface DueDelivery {
  readonly id: string;
  readonly messageId: string;
  readonly attempts: number;
  /** How many of the attempts a person requested. */
  readonly triesByHand: number;
  readonly createdAt: string;
  /**
   * Null: it is not sent, because its subject now has another owner, its content was removed, or the webhook no longer subscribes to it.
   */
  readonly content: PublishedEvent | AuditRecord | null;
  /** Why it is not sent. */
  readonly withheldBecause: string;
}

const belongsToOthers = 'the subject of the event has another owner now, so nothing was sent';
const isUnwanted = 'the webhook no longer hears events of this type, so nothing was sent';
const isRemoved = 'the service no longer keeps the event or the audit record, so nothing was sent';

/** The due deliveries of a webhook, the longest waiting first. The caller has the lease of its queue. */
export async function findDue(em: Em, webhookId: string, limit: number): Promise<DueDelivery[]> {
  const due = selectWithContent(em, webhookId)
    .where('d.status', '=', sql.lit('pending'))
    .where('d.dueAt', '<=', sql<string>`now()`)
    .orderBy('d.dueAt')
    .orderBy('d.id')
    .limit(limit);
  return withContents(em, await due.execute());
}

/** The content that a delivery would have if it was sent now; null: it would not be sent. */
export async function findContent(em: Em, webhookId: string, id: string): Promise<DueDelivery['content']> {
  const rows = await selectWithContent(em, webhookId).where('d.id', '=', id).execute();
  const [found] = await withContents(em, rows);
  return found?.content ?? null;
}

function selectWithContent(em: Em, webhookId: string) {
  return db(em)
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', 'w.id', 'd.webhookId')
    .leftJoin('domain_events as e', 'e.id', 'd.eventId')
    .where('d.webhookId', '=', webhookId)
    .select(selectEvent)
    .select(['d.id as deliveryId', 'd.messageId', 'd.attempts', 'd.createdAt'])
    .select('d.triesByHand')
    .select(['d.eventType', 'd.eventId', 'w.events as patterns'])
    .select((eb) => belongsElsewhere(eb).as('belongsElsewhere'));
}

type Row = Awaited<ReturnType<ReturnType<typeof selectWithContent>['execute']>>[number];

async function withContents(em: Em, rows: readonly Row[]): Promise<DueDelivery[]> {
  // A person who may change a webhook that does not subscribe to the audit may lack the right to read the audit.
  const mayBringAudit = rows.some(({ patterns }) => subscribesToAudit(patterns));
  const recordIds = rows.filter(({ eventType }) => eventType === auditStream).map(({ eventId }) => eventId);
  const records = await readRecords(em, mayBringAudit ? recordIds : []);
  return rows.map(
    ({ deliveryId, messageId, attempts, triesByHand, createdAt, belongsElsewhere: isElsewhere, ...row }) => {
      const event = row.id === null ? null : toEvent(row as EventRow);
      const isHeard = row.patterns.some((pattern) => matchesEvent(pattern, row.eventType));
      const content = isHeard ? (records.get(row.eventId) ?? (isElsewhere ? null : event)) : null;
      const withheldBecause = !isHeard ? isUnwanted : isElsewhere ? belongsToOthers : isRemoved;
      return { id: deliveryId, messageId, attempts, triesByHand, createdAt, content, withheldBecause };
    },
  );
}

/** Records what became of a delivery. @param outcome the result of the try; null: nothing was tried */
export async function settleDelivery(
  em: Em,
  { id, createdAt }: Pick<DueDelivery, 'id' | 'createdAt'>,
  settlement: Settlement<'delivered'>,
  outcome: Outcome | null,
): Promise<void> {
  await db(em)
    .updateTable('webhook_deliveries')
    .set({ ...settledColumns(settlement), ...(outcome && triedColumns(outcome)) })
    .where('id', '=', id)
    .where('createdAt', '=', createdAt)
    .execute();
}

function triedColumns({ status, ms, text, problem }: Outcome) {
  const tried: Omit<Try, 'at'> = { status, ms, problem };
  return {
    attempts: sql<number>`attempts + 1`,
    triedAt: sql<string>`now()`,
    tries: sql<JsonText<Try[]>>`case when jsonb_array_length(tries) < ${keptTries} then tries else tries - 0 end
      || (${JSON.stringify(tried)}::jsonb || jsonb_build_object('at', now()::timestamptz(3)))`,
    answerStatus: status,
    answerMs: ms,
    answerText: text,
  };
}
