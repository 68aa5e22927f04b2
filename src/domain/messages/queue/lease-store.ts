import { type RawBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { leaseFairly } from '#domain/shared/sending/lease.ts';
import type { Medium, MessageContent } from '../model.ts';

/** The lanes of messages. Failing destinations have a few places of their own, so that healthy ones never wait for them. */
const messageLanes = ['healthy', 'failing'] as const;
type MessageLane = (typeof messageLanes)[number];

/** A group of media whose messages share the same places. */
interface MediumGroup {
  readonly media: readonly Medium[];
  /**
   * How many messages of an organization with its channels, or of a user, all workers together send at a time. The remaining places are for
   * others.
   */
  readonly maxOfOneOwner: Readonly<Record<MessageLane, number>>;
}

/** Mails have a group of their own, so that hanging chats and webhooks never delay them. */
export const mediumGroups = {
  mails: { media: ['email'], maxOfOneOwner: { healthy: 8, failing: 2 } },
  posts: { media: ['chat', 'webhook'], maxOfOneOwner: { healthy: 32, failing: 4 } },
} as const satisfies Record<string, MediumGroup>;

/** The time of a lease, which is longer than any try. Messages that a killed worker had leased are free again after it. */
const leaseSeconds = 90;

/** A message that this process may send until its lease ends. */
export interface DueMessage extends MessageDestination {
  readonly id: string;
  readonly medium: Medium;
  readonly userId: string | null;
  readonly content: MessageContent;
  readonly sealedToken: Uint8Array | null;
  readonly subjectKind: SubjectKind | null;
  readonly subjectId: string | null;
  /** The number of tries that have begun, including this one. */
  readonly attempts: number;
  readonly createdAt: string;
  /** `failing`: the previous message to this destination was not delivered. */
  readonly lane: MessageLane;
}

/**
 * Leases the oldest message of each destination by the media of a group, if it is due. Only one message is sent to a destination at a time,
 * so a hanging destination delays no other. After a failure, a destination gets no message for a while. The places are shared fairly among
 * organizations (with their channels), users and addresses.
 */
export function leaseMessages(
  em: Em,
  places: Readonly<Record<MessageLane, number>>,
  { media, maxOfOneOwner }: MediumGroup,
): Promise<DueMessage[]> {
  return leaseFairly<DueMessage>(em, {
    candidates: findCandidates(media),
    places,
    maxOfOneHolder: maxOfOneOwner,
    table: 'outgoing_messages',
    key: 'id',
    isDue: sql`q.status = 'pending'`,
    seconds: leaseSeconds,
    changes: sql`, attempts = q.attempts + 1`,
    returning: sql`q.id, q.medium, q.user_id as "userId", q.channel_id as "channelId", q.address, q.destination, q.content,
      q.sealed_token as "sealedToken", q.subject_kind as "subjectKind", q.subject_id as "subjectId", q.attempts,
      q.created_at as "createdAt"`,
  });
}

/** The oldest message of each destination. The walk over the destinations reads one row of the index for each. */
function findCandidates(media: readonly Medium[]): RawBuilder<unknown> {
  return sql`destinations as (
      (select m.destination from outgoing_messages m where m.status = 'pending' order by m.destination limit 1)
      union all
      select (select m.destination from outgoing_messages m
               where m.status = 'pending' and m.destination > d.destination order by m.destination limit 1)
        from destinations d where d.destination is not null
    ), candidates as (
      select first.id, first.due_at, coalesce(first.leased_until >= now(), false) as is_leased,
             case when f.destination is null then 'healthy' else 'failing' end as lane,
             coalesce(c.organization_id, t.organization_id, first.user_id, case when c.id is not null then ${zeroId}::uuid else first.id end) as holder
        from destinations d
        cross join lateral (select m.id, m.medium, m.due_at, m.leased_until, m.channel_id, m.user_id from outgoing_messages m
                             where m.status = 'pending' and m.destination = d.destination
                             order by m.due_at, m.id limit 1) first
        left join failing_destinations f on f.destination = d.destination
        left join notification_channels c on c.id = first.channel_id
        left join teams t on t.id = c.team_id
       where first.medium = any(${[...media]}::text[]) and first.due_at <= now()
         and (first.leased_until >= now() or f.quiet_until is null or f.quiet_until <= now())
    )`;
}

/** The destination of a message: its key, its channel if it has one, and its address. */
export interface MessageDestination {
  readonly destination: string;
  readonly channelId: string | null;
  readonly address: string | null;
}
