import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { userDestination } from '#domain/messages/model.ts';
import { forgetFailure } from '#domain/messages/queue/settle-store.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { UserChat } from './entity.ts';

/** The context in which the address of a user's chat is sealed. The address is secret, because anybody who knows it can post there. */
export const chatContext = (userId: string) => ['user-chat', userId] as const;

/** The chat of a user, and why the last message to it was not delivered. */
export interface Chat {
  readonly host: string;
  readonly problem: string | null;
  /** No message is sent there before this time, because the last try failed. */
  readonly pausedUntil: string | null;
}

export function readChat(em: Em, userId: string): Promise<Chat | undefined> {
  return db(em)
    .selectFrom('user_chats as c')
    .where('c.userId', '=', userId)
    .leftJoin('failing_destinations as f', (join) => join.on('f.destination', '=', userDestination(userId, 'chat')))
    .select(['c.host', 'f.problem'])
    .select(sql<string | null>`case when f.quiet_until > now() then f.quiet_until end`.as('pausedUntil'))
    .executeTakeFirst();
}

/** Stores the sealed address of a user's chat; null removes it. */
export async function keepChat(em: Em, keyRing: KeyRing, userId: string, url: string | null): Promise<void> {
  await db(em).deleteFrom('user_chats').where('userId', '=', userId).execute();
  await forgetFailure(em, userDestination(userId, 'chat'));
  if (url === null) return;
  const sealed = keyRing.seal(chatContext(userId), Buffer.from(url));
  await em.persist(em.create(UserChat, { userId, host: new URL(url).host, sealedUrl: sealed })).flush();
}

/** The address of a user's chat; null: there is none. @throws Error if the key ring cannot open it */
export async function openChat(em: Em, keyRing: KeyRing, userId: string | null): Promise<string | null> {
  const row = await db(em)
    .selectFrom('user_chats')
    .where('userId', '=', userId ?? zeroId)
    .select('sealedUrl as sealed')
    .executeTakeFirst();
  return row ? keyRing.open(chatContext(userId ?? zeroId), row.sealed).toString() : null;
}

/** Which of these users have a chat. */
export async function findChatUsers(em: Em, userIds: readonly string[]): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('user_chats')
    .where('userId', '=', (eb) => eb.fn.any(eb.val([...userIds])))
    .select('userId as id')
    .execute();
  return rows.map(({ id }) => id);
}
