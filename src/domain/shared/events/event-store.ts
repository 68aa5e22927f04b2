import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { PrincipalKind } from '../vocabulary/roles.ts';
import type { PublishedEvent } from './event-type.ts';

/** The columns of an event, of `domain_events as e`. */
export function selectEvent(_eb: Over<{ e: 'domain_events' }>) {
  return [
    'e.id',
    'e.type',
    'e.subjectKind',
    'e.subjectId',
    'e.sequence',
    'e.data',
    'e.organizationId',
    'e.teamId',
    'e.projectId',
    'e.actorType',
    'e.actorId',
    'e.actorName',
    'e.createdAt as at',
  ] as const;
}

export interface EventRow extends Omit<PublishedEvent, 'subject' | 'actor'> {
  readonly subjectKind: string;
  readonly subjectId: string;
  readonly actorType: PrincipalKind;
  readonly actorId: string;
  readonly actorName: string;
}

export function toEvent({ subjectKind, subjectId, actorType, actorId, actorName, ...event }: EventRow): PublishedEvent {
  return {
    ...event,
    subject: { kind: subjectKind, id: subjectId },
    actor: { type: actorType, id: actorId, name: actorName },
  };
}

export async function readEvent(em: Em, id: string): Promise<PublishedEvent | undefined> {
  const row = await db(em)
    .selectFrom('domain_events as e')
    .where('e.id', '=', id)
    .select(selectEvent)
    .executeTakeFirst();
  return row && toEvent(row);
}

/** The next events of a subject, in their order. No event with a lower number is ever committed later. */
export async function listEventsOf(
  em: Em,
  subject: { readonly kind: string; readonly id: string },
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PublishedEvent[]> {
  const rows = await db(em)
    .selectFrom('domain_events as e')
    .where('e.subjectKind', '=', subject.kind)
    .where('e.subjectId', '=', subject.id)
    .where('e.sequence', '>', after)
    .select(selectEvent)
    .orderBy('e.sequence')
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}
