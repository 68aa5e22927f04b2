import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { zeroId } from '#domain/shared/ids.ts';

/** How long a worker may send the deliveries of a webhook before another one takes over. It is longer than any of its tries takes. */
const leaseSeconds = 60;

/**
 * Each lane has places of its own, so that endpoints which answer never wait for those that hang. `proven`: the last try succeeded. `new`: nothing
 * was tried yet since the webhook was created, enabled or given its address. `failing`: the last try failed.
 */
export const lanes = ['proven', 'new', 'failing'] as const;
export type Lane = (typeof lanes)[number];
export type PerLane = Readonly<Record<Lane, number>>;

/** So many webhooks of an organization, with its teams and projects, all workers send at a time; the rest of the places is for others. */
export const mostOfOneOwner: PerLane = { proven: 48, new: 32, failing: 8 };

/** A queue that this process may work on until its lease ends. */
export interface LeasedQueue {
  readonly webhookId: string;
  readonly lane: Lane;
}

/**
 * Leases queues in which a delivery is due, as many of each lane as it has places. Organizations take turns, and those that hold fewest places come
 * first, so that no one's many webhooks delay another's few; among equals, those that have waited longest. What a killed worker had leased is free after
 * its lease.
 */
export async function leaseQueues(em: Em, places: PerLane): Promise<LeasedQueue[]> {
  const { rows } = await sql<LeasedQueue>`
    with queues as (
      select q.webhook_id, q.next_at, coalesce(q.leased_until >= now(), false) as is_leased,
             case when q.failing_since is not null then 'failing' when q.is_proven then 'proven' else 'new' end as lane,
             coalesce(w.organization_id, t.organization_id, ${zeroId}::uuid) as holder
        from webhook_queues q join webhooks w on w.id = q.webhook_id left join teams t on t.id = w.team_id
       where q.leased_until >= now() or (q.next_at <= now() and w.is_enabled)
    ), lanes as (
      select * from (values ('proven', ${places.proven}::int, ${mostOfOneOwner.proven}::int), ('new', ${places.new}::int, ${mostOfOneOwner.new}::int),
                            ('failing', ${places.failing}::int, ${mostOfOneOwner.failing}::int)) l (lane, places, share)
    ), turns as (
      select q.*, (count(*) filter (where q.is_leased) over (partition by q.lane, q.holder))
                  + row_number() over (partition by q.lane, q.holder, q.is_leased order by q.next_at, q.webhook_id) as turn
        from queues q
    ), places as (
      select t.webhook_id, t.lane, l.places, row_number() over (partition by t.lane order by t.turn, t.next_at, t.webhook_id) as place
        from turns t join lanes l on l.lane = t.lane
       where not t.is_leased and t.turn <= l.share
    ), free as (
      select q.webhook_id, p.lane
        from webhook_queues q join places p on p.webhook_id = q.webhook_id
       where p.place <= p.places and q.next_at <= now() and (q.leased_until is null or q.leased_until < now())
         for update of q skip locked
    )
    update webhook_queues q set leased_until = now() + make_interval(secs => ${leaseSeconds})
      from free where q.webhook_id = free.webhook_id
    returning q.webhook_id as "webhookId", free.lane`.execute(db(em));
  return rows;
}
