import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange, readForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Notification } from './entity.ts';
import type { Mark } from './model.ts';

const now = sql<string>`now()`;

/** Locks a notification of a user and reads its revision; null if the user has no such notification. */
export function lockNotification(em: Em, user: Principal, id: string): Promise<{ readonly revision: number } | null> {
  return lockForChange(em, Notification, { id, userId: user.id });
}

/** Marks a notification, whose row the caller has locked. */
export async function markNotification(em: Em, id: string, as: Mark): Promise<void> {
  (await readForChange(em, Notification, { id })).mark(as);
  await em.flush();
}

/**
 * Marks all of a user's unarchived notifications about one subject as read or archived. Returns how many changed. The caller has checked
 * that the user may read the subject.
 */
export async function markThread(em: Em, user: Principal, subjectId: string, as: 'read' | 'archived'): Promise<number> {
  const { numUpdatedRows } = await db(em)
    .updateTable('notifications')
    .set((eb) => ({
      readAt: eb.fn.coalesce('readAt', now),
      ...(as === 'archived' && { archivedAt: now }),
      revision: eb('revision', '+', 1),
    }))
    .where('userId', '=', user.id)
    .where('subjectId', '=', subjectId)
    .where('archivedAt', 'is', null)
    .$if(as === 'read', (query) => query.where('readAt', 'is', null))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Marks all of a user's notifications as read, including those that are hidden from the user now. Returns how many were unread. */
export async function markAllRead(em: Em, user: Principal): Promise<number> {
  const { numUpdatedRows } = await db(em)
    .updateTable('notifications')
    .set((eb) => ({ readAt: now, revision: eb('revision', '+', 1) }))
    .where('userId', '=', user.id)
    .where('readAt', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
