import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Topic } from '#domain/news/model.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging.ts';
import type { MessageStatus } from '../model.ts';

/** A message of a channel as the readers of the channel see it: what it was about and what became of it, and not what it says. */
export interface ChannelMessage {
  readonly id: string;
  readonly kind: Topic;
  /** The e-mail address that it is for; null: it goes to the address of the channel. */
  readonly recipient: string | null;
  readonly status: MessageStatus;
  /** How many tries have begun. */
  readonly attempts: number;
  readonly dueAt: string;
  /** Why the last try failed, or why the message is withheld. */
  readonly problem: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

/** A page of the messages of a channel, newest first. Those that have ended are listed for `keptDays`. */
export function listChannelMessages(
  em: Em,
  channelId: string,
  { status }: { readonly status?: MessageStatus | undefined },
  request: PageRequest,
): Promise<Page<ChannelMessage>> {
  const messages = db(em)
    .selectFrom('outgoing_messages as m')
    .where('m.channelId', '=', channelId)
    .$if(status !== undefined, (query) => query.where('m.status', '=', status ?? 'pending'))
    .select(sql<Topic>`m.content ->> 'kind'`.as('kind'))
    .select(['m.id', 'm.address as recipient', 'm.status', 'm.attempts', 'm.dueAt', 'm.problem'])
    .select(['m.createdAt', 'm.settledAt']);
  return pageOf(messages, 'm.id', request);
}
