import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { NotificationKind } from '../model.ts';
import { findListeners } from '../preferences-store.ts';
import { findSubjectOwner, mayReadSubject, type Subject } from '../subjects.ts';

/** Something that some users are to be told, if they may read it. */
export interface Draft {
  readonly kind: NotificationKind;
  readonly subject: Subject;
  readonly title: string;
  /** What is told is told once to each user for one cause. */
  readonly cause: string;
  readonly candidates: readonly string[];
}

/** How users can be told. */
export interface Telling {
  /** The installation sends e-mail. */
  readonly byEmail: boolean;
}

/**
 * Tells the candidates of a draft who are users, may read its subject now, and want to hear of its kind: on the page, by e-mail, or by
 * both. Repeating it tells nobody twice. Answers how many were told on the page.
 */
export async function tell(em: Em, draft: Draft, { byEmail }: Telling): Promise<number> {
  const { kind, subject, candidates } = draft;
  const listeners = await findListeners(em, kind, [...new Set(candidates)]);
  if (listeners.size === 0) return 0;
  const owner = await findSubjectOwner(em, subject);
  const users = await readPrincipals(em, [...listeners.keys()]);
  const readers = [...users.values()].filter((user) => mayReadSubject(user, subject, owner)).map(({ id }) => id);
  if (byEmail)
    await mail(
      em,
      draft,
      readers.filter((id) => listeners.get(id)?.email),
    );
  return addToPage(
    em,
    draft,
    readers.filter((id) => listeners.get(id)?.page),
  );
}

async function addToPage(em: Em, { kind, subject, title, cause }: Draft, userIds: readonly string[]): Promise<number> {
  if (userIds.length === 0) return 0;
  const rows = userIds.map((userId) => ({
    id: newId(),
    user_id: userId,
    kind,
    subject_kind: subject.kind,
    subject_id: subject.id,
    title,
    cause,
    created_at: new Date().toISOString(),
  }));
  const told = await db(em)
    .insertInto('notifications')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['user_id', 'cause']).doNothing())
    .returning('id')
    .execute();
  return told.length;
}

/** Whether they may still read the subject is asked again when the mail is sent. */
async function mail(em: Em, { kind, subject, title, cause }: Draft, userIds: readonly string[]): Promise<void> {
  const content = { purpose: 'notification', kind, title } as const;
  const messages = userIds.map((userId) => ({ medium: 'email', userId, content, subject, cause }) as const);
  await queueMessages(em, messages);
}
