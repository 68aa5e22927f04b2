import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { type Medium, type MessageContent, media } from '../model.ts';
import type { MessageDestination } from './failing-store.ts';

/** Longer than any try takes. What a killed worker had leased is free again after it. */
const leaseSeconds = 90;

/** Destinations at which the last message did not arrive have few places of their own, so that those which accept messages never wait for them. */
export const messageLanes = ['healthy', 'failing'] as const;
export type MessageLane = (typeof messageLanes)[number];

/** How many messages to lease in each lane, and how many of one owner may be under way there in all workers. */
export type MessagePlaces = Readonly<Record<MessageLane, { readonly places: number; readonly share: number }>>;

/** A message that this process may send until its lease ends. */
export interface DueMessage extends MessageDestination {
  readonly id: string;
  readonly medium: Medium;
  readonly userId: string | null;
  readonly content: MessageContent;
  readonly sealedToken: Uint8Array | null;
  readonly subjectKind: SubjectKind | null;
  readonly subjectId: string | null;
  /** How many tries have begun, this one included. */
  readonly attempts: number;
  readonly createdAt: string;
  /** The message before it did not arrive there. */
  readonly isFailing: boolean;
}

/**
 * Leases the oldest message of each destination by some media, if it is due. A destination has one message under way at a time, so one that hangs
 * delays no other. After a failure it gets none for a while. Organizations with their channels, users and addresses take turns: those that have
 * fewest messages under way come first, and among equals those that have waited longest. The walk over the destinations reads one row of the index
 * for each.
 */
export async function leaseMessages(
  em: Em,
  { healthy, failing }: MessagePlaces,
  among: readonly Medium[] = media,
): Promise<DueMessage[]> {
  const { rows } = await sql<DueMessage>`
    with recursive destinations as (
      (select m.destination from outgoing_messages m where m.status = 'pending' order by m.destination limit 1)
      union all
      select (select m.destination from outgoing_messages m
               where m.status = 'pending' and m.destination > d.destination order by m.destination limit 1)
        from destinations d where d.destination is not null
    ), firsts as (
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
       where first.medium = any(${[...among]}::text[]) and first.due_at <= now()
         and (first.leased_until >= now() or f.quiet_until is null or f.quiet_until <= now())
    ), lanes as (
      select * from (values ('healthy', ${healthy.places}::int, ${healthy.share}::int),
                            ('failing', ${failing.places}::int, ${failing.share}::int)) l (lane, places, share)
    ), turns as (
      select f.*, (count(*) filter (where f.is_leased) over (partition by f.lane, f.holder))
                  + row_number() over (partition by f.lane, f.holder, f.is_leased order by f.due_at, f.id) as turn
        from firsts f
    ), places as (
      select t.id, l.places, row_number() over (partition by t.lane order by t.turn, t.due_at, t.id) as place
        from turns t join lanes l on l.lane = t.lane
       where not t.is_leased and t.turn <= l.share
    ), free as (
      select m.id from outgoing_messages m
       where m.id in (select id from places where place <= places) and m.status = 'pending'
         and (m.leased_until is null or m.leased_until < now())
         for update skip locked
    )
    update outgoing_messages m
       set leased_until = now() + make_interval(secs => ${leaseSeconds}), attempts = m.attempts + 1
      from free where m.id = free.id
    returning m.id, m.medium, m.user_id as "userId", m.channel_id as "channelId", m.address, m.destination, m.content,
              m.sealed_token as "sealedToken", m.subject_kind as "subjectKind", m.subject_id as "subjectId", m.attempts,
              m.created_at as "createdAt",
              exists (select from failing_destinations f where f.destination = m.destination) as "isFailing"`.execute(
    db(em),
  );
  return rows;
}
