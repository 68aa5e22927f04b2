import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type NotificationKind, notificationKindNames } from './model.ts';

/** Whether a user wants to hear of a kind. */
export interface Preference {
  readonly kind: NotificationKind;
  /** On the page of notifications. */
  readonly page: boolean;
}

/** What a user wants to hear of, every kind once. What the user has not decided is on. */
export async function readPreferences(em: Em, userId: string): Promise<Preference[]> {
  const rows = await db(em)
    .selectFrom('notification_preferences')
    .where('user_id', '=', userId)
    .select(['kind', 'in_page as page'])
    .execute();
  const decided = new Map(rows.map(({ kind, page }) => [kind, page]));
  return notificationKindNames.map((kind) => ({ kind, page: decided.get(kind) ?? true }));
}

/** Replaces what a user has decided. Kinds that are left out are on. What was told before stays. */
export async function replacePreferences(em: Em, userId: string, wanted: readonly Preference[]): Promise<void> {
  await db(em).deleteFrom('notification_preferences').where('user_id', '=', userId).execute();
  const rows = wanted.map(({ kind, page }) => ({ user_id: userId, kind, in_page: page }));
  if (rows.length > 0) await db(em).insertInto('notification_preferences').values(rows).execute();
}
