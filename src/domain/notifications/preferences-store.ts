import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { User } from '#domain/identity/entity.ts';
import { isMailedByDefault, type NotificationKind, notificationKindNames } from '#domain/news/model.ts';
import { NotificationPreference } from './entity.ts';

/** How a user wants to hear of a kind. */
export interface Preference {
  readonly kind: NotificationKind;
  /** On the page of notifications. */
  readonly page: boolean;
  /** By e-mail, where the installation sends any. */
  readonly email: boolean;
  /** In the user's chat, if there is one. */
  readonly chat: boolean;
}

/** What a user has decided about a kind. What is left out stays as the kind has it. */
export type Decision = Pick<Preference, 'kind' | 'page'> & {
  readonly email?: boolean | undefined;
  readonly chat?: boolean | undefined;
};

/** How a user wants to hear of every kind, each once. */
export async function readPreferences(em: Em, userId: string): Promise<Preference[]> {
  const rows = await db(em)
    .selectFrom('notification_preferences')
    .where('userId', '=', userId)
    .select(['kind', 'inPage as page', 'byEmail as email', 'byChat as chat'])
    .execute();
  const decided = new Map(rows.map((row) => [row.kind, row]));
  return notificationKindNames.map((kind) => ({
    kind,
    page: decided.get(kind)?.page ?? true,
    email: decided.get(kind)?.email ?? isMailedByDefault(kind),
    chat: decided.get(kind)?.chat ?? isMailedByDefault(kind),
  }));
}

/** Holds the preferences of a user against other changes until the transaction ends. */
export async function lockPreferences(em: Em, userId: string): Promise<void> {
  const lock = `delivery-coordinator/notification preferences/${userId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(db(em));
}

/** Counts how often the preferences of a user were changed. */
export async function readPreferencesRevision(em: Em, userId: string): Promise<number> {
  const { revision } = await db(em)
    .selectFrom('users')
    .where('id', '=', userId)
    .select('preferencesRevision as revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Counts a change of the preferences of a user. The caller holds `lockPreferences`. */
export async function revisePreferences(em: Em, userId: string): Promise<void> {
  (await em.findOneOrFail(User, userId)).preferencesRevision += 1;
  await em.flush();
}

/**
 * Replaces what a user has decided. A kind that is left out gets its default again. What the user was told before stays. The caller holds
 * `lockPreferences`.
 */
export async function replacePreferences(em: Em, userId: string, wanted: readonly Decision[]): Promise<void> {
  await db(em).deleteFrom('notification_preferences').where('userId', '=', userId).execute();
  for (const { kind, page: inPage, email: byEmail = null, chat: byChat = null } of wanted)
    em.persist(em.create(NotificationPreference, { userId, kind, inPage, byEmail, byChat }));
  await em.flush();
}

/** Who among some users wants to hear of a kind, and how. */
export async function findListeners(
  em: Em,
  kind: NotificationKind,
  userIds: readonly string[],
): Promise<Map<string, Omit<Preference, 'kind'>>> {
  if (userIds.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('principals as p')
    .leftJoin('notification_preferences as f', (join) => join.onRef('f.userId', '=', 'p.id').on('f.kind', '=', kind))
    .where('p.kind', '=', 'user')
    .where('p.id', '=', (eb) => eb.fn.any(eb.val([...userIds])))
    .select(['p.id', 'f.inPage as page', 'f.byEmail as email', 'f.byChat as chat'])
    .execute();
  const isMailed = isMailedByDefault(kind);
  const wanted = rows.map(
    ({ id, page, email, chat }) =>
      [id, { page: page ?? true, email: email ?? isMailed, chat: chat ?? isMailed }] as const,
  );
  return new Map(wanted.filter(([, { page, email, chat }]) => page || email || chat));
}
