import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { User } from '#domain/identity/entity.ts';
import { isMailedByDefault, type NotificationKind, notificationKindNames } from '#domain/news/model.ts';
import { NotificationPreference } from './entity.ts';

/** The media by which a user receives a kind. */
export interface Preference {
  readonly kind: NotificationKind;
  /** On the page of notifications. */
  readonly page: boolean;
  /** Whether the user receives e-mails, if the installation sends any. */
  readonly email: boolean;
  /** In the user's chat, if there is one. */
  readonly chat: boolean;
}

/** A user's decision about a kind. Omitted media keep the default of the kind. */
export type Decision = Pick<Preference, 'kind' | 'page'> & {
  readonly email?: boolean | undefined;
  readonly chat?: boolean | undefined;
};

/** The preferences of a user for all kinds. */
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

/** Locks the preferences of a user against other changes until the transaction ends. */
export async function lockPreferences(em: Em, userId: string): Promise<void> {
  const lock = `delivery-coordinator/notification preferences/${userId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(db(em));
}

/** The revision of the preferences of a user. */
export async function readPreferencesRevision(em: Em, userId: string): Promise<number> {
  const { revision } = await db(em)
    .selectFrom('users')
    .where('id', '=', userId)
    .select('preferencesRevision as revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Raises the revision of the preferences of a user. The caller has called `lockPreferences`. */
export async function revisePreferences(em: Em, userId: string): Promise<void> {
  (await readForChange(em, User, { id: userId })).preferencesRevision += 1;
  await em.flush();
}

/**
 * Replaces the decisions of a user. An omitted kind gets its default again. Earlier notifications stay. The caller has called
 * `lockPreferences`.
 */
export async function replacePreferences(em: Em, userId: string, wanted: readonly Decision[]): Promise<void> {
  await db(em).deleteFrom('notification_preferences').where('userId', '=', userId).execute();
  for (const { kind, page: inPage, email: byEmail = null, chat: byChat = null } of wanted)
    em.persist(em.create(NotificationPreference, { userId, kind, inPage, byEmail, byChat }));
  await em.flush();
}

/** Those of the users who receive a kind, each with the media. */
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
