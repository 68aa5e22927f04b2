import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { chooseFairly, roomsOf } from '#domain/shared/tasks/fair-lease.ts';

/** How long a worker may send the deliveries of a webhook before another one takes over. It is longer than any of its tries takes. */
const leaseSeconds = 60;

/**
 * Each lane has places of its own, so that endpoints which answer never wait for those that hang. `proven`: the last try succeeded. `new`: nothing
 * was tried yet since the webhook was created, enabled or given its address. `failing`: the last try failed.
 */
export const lanes = ['proven', 'new', 'failing'] as const;
export type Lane = (typeof lanes)[number];
export type PerLane = Readonly<Record<Lane, number>>;

/** How many webhooks of an organization, with its teams and projects, all workers together send at a time. The remaining places are for others. */
export const maxOfOneOwner: PerLane = { proven: 48, new: 32, failing: 8 };

/** A queue that this process may work on until its lease ends. */
export interface LeasedQueue {
  readonly webhookId: string;
  readonly lane: Lane;
}

/**
 * Leases queues in which a delivery is due, as many of each lane as it has places. Organizations take turns. What a killed worker had leased is free
 * after its lease.
 */
export async function leaseQueues(em: Em, places: PerLane): Promise<LeasedQueue[]> {
  const { rows } = await sql<LeasedQueue>`
    with candidates as (
      select q.webhook_id as id, q.next_at as due_at, coalesce(q.leased_until >= now(), false) as is_leased,
             case when q.failing_since is not null then 'failing' when q.is_proven then 'proven' else 'new' end as lane,
             coalesce(w.organization_id, t.organization_id, ${zeroId}::uuid) as holder
        from webhook_queues q join webhooks w on w.id = q.webhook_id left join teams t on t.id = w.team_id
       where q.leased_until >= now() or (q.next_at <= now() and w.is_enabled)
    ), ${chooseFairly(roomsOf(places, maxOfOneOwner))}, free as (
      select q.webhook_id, c.lane
        from webhook_queues q join chosen c on c.id = q.webhook_id
       where q.next_at <= now() and (q.leased_until is null or q.leased_until < now())
         for update of q skip locked
    )
    update webhook_queues q set leased_until = now() + make_interval(secs => ${leaseSeconds})
      from free where q.webhook_id = free.webhook_id
    returning q.webhook_id as "webhookId", free.lane`.execute(db(em));
  return rows;
}
