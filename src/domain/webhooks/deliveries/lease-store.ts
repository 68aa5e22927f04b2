import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { leaseFairly } from '#domain/shared/sending/lease.ts';

/** After this time, another worker may send the deliveries of a webhook. It is longer than any try takes. */
const leaseSeconds = 60;

/**
 * Each lane has its own places, so that endpoints that answer never wait for endpoints that hang. `proven`: the last try succeeded. `new`:
 * nothing was tried yet since the webhook was created, enabled or given its address. `failing`: the last try failed.
 */
export const lanes = ['proven', 'new', 'failing'] as const;
export type Lane = (typeof lanes)[number];
export type PerLane = Readonly<Record<Lane, number>>;

/**
 * For how many webhooks of an organization, its teams and its projects all workers together send at the same time. The remaining places are
 * for other organizations.
 */
export const maxOfOneOwner: PerLane = { proven: 48, new: 32, failing: 8 };

/** A queue that this process may work on until its lease ends. */
export interface LeasedQueue {
  readonly webhookId: string;
  readonly lane: Lane;
}

/** Leases queues in which a delivery is due. Organizations take turns. */
export function leaseQueues(em: Em, places: PerLane): Promise<LeasedQueue[]> {
  return leaseFairly<LeasedQueue>(em, {
    candidates: sql`candidates as (
      select q.webhook_id as id, q.next_at as due_at, coalesce(q.leased_until >= now(), false) as is_leased,
             case when q.failing_since is not null then 'failing' when q.is_proven then 'proven' else 'new' end as lane,
             coalesce(w.organization_id, t.organization_id, ${zeroId}::uuid) as holder
        from webhook_queues q join webhooks w on w.id = q.webhook_id left join teams t on t.id = w.team_id
       where q.leased_until >= now() or (q.next_at <= now() and w.is_enabled)
    )`,
    places,
    maxOfOneHolder: maxOfOneOwner,
    table: 'webhook_queues',
    key: 'webhook_id',
    isDue: sql`q.next_at <= now()`,
    seconds: leaseSeconds,
    returning: sql`q.webhook_id as "webhookId"`,
  });
}
