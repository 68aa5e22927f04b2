import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventTypeName } from '#domain/events.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';

/** The events after which the run no longer needs reviews. */
const endsOfWaiting: readonly EventTypeName[] = ['run.finished', 'run.applying', 'run.held'];

export const settlingTypes: ReadonlySet<string> = new Set<EventTypeName>(['run.reviewed', ...endsOfWaiting]);

/**
 * Marks notifications of review requests as read once no review is needed: that of a reviewer who has decided, and those of all others once
 * the run no longer waits.
 */
export async function settleRequests(em: Em, { type, subject, actor }: PublishedEvent): Promise<void> {
  await db(em)
    .updateTable('notifications')
    .set((eb) => ({ readAt: sql<string>`now()`, revision: eb('revision', '+', 1) }))
    .where('subjectId', '=', subject.id)
    .where('kind', '=', 'run.approval_requested')
    .where('readAt', 'is', null)
    .$if(type === 'run.reviewed', (query) => query.where('userId', '=', actor.id))
    .execute();
}
