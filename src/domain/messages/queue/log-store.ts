import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { SubjectKind, Topic } from '#domain/news/model.ts';
import { isReadableSubject } from '#domain/news/subjects.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { MessageStatus } from '../model.ts';

/** A message of a channel for the readers of the channel: its subject and its status, but not its text. */
export interface ChannelMessage {
  readonly id: string;
  readonly kind: Topic;
  /** The e-mail address that it is for; null: it goes to the address of the channel. */
  readonly recipient: string | null;
  readonly status: MessageStatus;
  /** The number of tries that have begun. */
  readonly attempts: number;
  /** When it is tried next: when it is due, but not before the pause after a failure of its destination is over. */
  readonly nextAt: string;
  /** Whether it is due, but waits because the last message to its destination failed. */
  readonly isPaused: boolean;
  /** The subject of the message; null if the reader may not read it. */
  readonly subjectKind: SubjectKind | null;
  readonly subjectId: string | null;
  readonly title: string | null;
  /** Why the last try failed, or why the message is withheld. */
  readonly problem: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

/** A page of the messages of a channel, newest first. Those that have ended are listed for `keptDays`. */
export function listChannelMessages(
  em: Em,
  reader: Principal,
  channelId: string,
  { status }: { readonly status?: MessageStatus | undefined },
  request: PageRequest,
): Promise<Page<ChannelMessage>> {
  const messages = db(em)
    .selectFrom('outgoing_messages as m')
    .leftJoin('failing_destinations as f', 'f.destination', 'm.destination')
    .where('m.channelId', '=', channelId)
    .$if(status !== undefined, (query) => query.where('m.status', '=', status ?? 'pending'))
    .select(sql<Topic>`m.content ->> 'kind'`.as('kind'))
    .select(['m.id', 'm.address as recipient', 'm.status', 'm.attempts', 'm.problem'])
    .select(['m.createdAt', 'm.settledAt'])
    .select(sql<string>`greatest(m.due_at, f.quiet_until)`.as('nextAt'))
    .select(sql<boolean>`coalesce(f.quiet_until > now() and m.due_at <= now(), false)`.as('isPaused'))
    .select((eb) => {
      const isReadable = isReadableSubject({ kind: eb.ref('m.subjectKind'), id: eb.ref('m.subjectId') }, reader);
      return [
        sql<SubjectKind | null>`case when ${isReadable} then m.subject_kind end`.as('subjectKind'),
        sql<string | null>`case when ${isReadable} then m.subject_id end`.as('subjectId'),
        sql<string | null>`case when ${isReadable} then m.content ->> 'title' end`.as('title'),
      ];
    });
  return pageOf(messages, 'm.id', request);
}
