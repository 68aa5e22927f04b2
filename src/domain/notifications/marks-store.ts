import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

const now = sql<string>`now()`;

/** Locks a notification of a user and reads its revision; undefined if the user has no such notification. */
export function lockNotification(em: Em, user: Principal, id: string): Promise<{ revision: number } | undefined> {
  return db(em)
    .selectFrom('notifications')
    .where('id', '=', id)
    .where('userId', '=', user.id)
    .select('revision')
    .forUpdate()
    .executeTakeFirst();
}

/** `archived`: it is put away, and read as well. `unarchived`: it is taken back. */
export type Mark = 'read' | 'archived' | 'unarchived';

/** Notes that a user has read a notification, has put it away or has taken it back. One that is so already stays as it is. */
export async function markNotification(em: Em, user: Principal, id: string, as: Mark): Promise<void> {
  await db(em)
    .updateTable('notifications')
    .set((eb) => ({
      readAt: eb.fn.coalesce('readAt', now),
      ...(as === 'archived' && { archivedAt: now }),
      ...(as === 'unarchived' && { archivedAt: null }),
      revision: eb('revision', '+', 1),
    }))
    .where('id', '=', id)
    .where('userId', '=', user.id)
    .$if(as === 'read', (query) => query.where('readAt', 'is', null))
    .$if(as === 'archived', (query) => query.where('archivedAt', 'is', null))
    .$if(as === 'unarchived', (query) => query.where('archivedAt', 'is not', null))
    .execute();
}

/**
 * Notes that a user has read, or put away, everything about one subject that is not put away yet. Answers how many notifications changed. The
 * caller has made sure that the user may read the subject.
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

/** Notes that a user has read everything so far, also what is hidden from the user now. Answers how many were unread. */
export async function markAllRead(em: Em, user: Principal): Promise<number> {
  const { numUpdatedRows } = await db(em)
    .updateTable('notifications')
    .set((eb) => ({ readAt: now, revision: eb('revision', '+', 1) }))
    .where('userId', '=', user.id)
    .where('readAt', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
