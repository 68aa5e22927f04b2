import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Medium, type MessageContent, userDestination } from '../model.ts';
import { sealToken } from './tokens.ts';

/** A message to a user, to a channel or to an address. To a user with an address, it is sent only while the user has that address. */
export interface NewMessage {
  readonly medium: Medium;
  readonly userId?: string;
  readonly channelId?: string;
  readonly address?: string;
  readonly content: MessageContent;
  readonly subject?: { readonly kind: SubjectKind; readonly id: string };
  /** For one cause, a user gets one message by each medium, and an address or each recipient of a channel gets one message. */
  readonly cause: string;
  /** The one-time token of its link, with the key ring that seals it: a message that needs a token is never stored without it. */
  readonly token?: { readonly value: string; readonly keyRing: KeyRing };
}

/**
 * Stores messages, which a worker sends once the transaction is committed. A second message to the same destination for the same cause is
 * not stored.
 */
export async function queueMessages(em: Em, messages: readonly NewMessage[]): Promise<void> {
  for (let first = 0; first < messages.length; first += keptAtOnce) {
    await db(em)
      .insertInto('outgoing_messages')
      .values(messages.slice(first, first + keptAtOnce).map(toRow))
      .onConflict((conflict) => conflict.columns(['destination', 'cause']).doNothing())
      .execute();
  }
}

/** A statement takes 65,535 parameters at the most. */
const keptAtOnce = 1_000;

function toRow(message: NewMessage) {
  const { medium, userId = null, channelId = null, address = null, content, subject, cause, token } = message;
  const id = newId();
  // The column stores milliseconds. Rounding up would make the message due in the future.
  const now = sql<string>`date_trunc('milliseconds', now())`;
  return {
    id,
    medium,
    userId,
    channelId,
    address,
    destination: destinationOf(message),
    cause,
    content: JSON.stringify(content),
    sealedToken: token ? sealToken(token.keyRing, id, token.value) : null,
    subjectKind: subject?.kind ?? null,
    subjectId: subject?.id ?? null,
    status: 'pending' as const,
    attempts: 0,
    dueAt: now,
    createdAt: now,
  };
}

function destinationOf({ medium, userId, channelId, address }: NewMessage): string {
  if (channelId !== undefined) return `channel:${channelId}:${address ?? medium}`;
  return userId === undefined ? `address:${address}` : userDestination(userId, medium);
}
