import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { newId } from '#domain/shared/ids.ts';
import type { NotificationKind } from '../model.ts';
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

/**
 * Tells the candidates of a draft who are enabled users, may read its subject now, and have not turned its kind off. Repeating it tells
 * nobody twice. Answers how many were told.
 */
export async function tell(em: Em, draft: Draft): Promise<number> {
  const { kind, subject, title, cause } = draft;
  const heard = await findUnmuted(em, kind, [...new Set(draft.candidates)]);
  if (heard.length === 0) return 0;
  const owner = await findSubjectOwner(em, subject);
  const users = await readPrincipals(em, heard);
  const recipients = [...users.values()].filter((user) => mayReadSubject(user, subject, owner));
  if (recipients.length === 0) return 0;
  const rows = recipients.map(({ id }) => ({
    id: newId(),
    user_id: id,
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

/** The users among the candidates who have not turned a kind off. */
async function findUnmuted(em: Em, kind: NotificationKind, candidates: readonly string[]): Promise<string[]> {
  if (candidates.length === 0) return [];
  const rows = await db(em)
    .selectFrom('principals as p')
    .where('p.kind', '=', 'user')
    .where('p.id', '=', (eb) => eb.fn.any(eb.val([...candidates])))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('notification_preferences as f')
            .whereRef('f.user_id', '=', 'p.id')
            .where('f.kind', '=', kind)
            .where('f.in_page', '=', false)
            .select('f.kind'),
        ),
      ),
    )
    .select('p.id')
    .execute();
  return rows.map(({ id }) => id);
}
