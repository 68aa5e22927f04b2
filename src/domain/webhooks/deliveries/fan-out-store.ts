import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isOfFormerOwner } from './former-owner.ts';

/**
 * Adds a delivery of each event for each enabled webhook that subscribes to its type and whose owner owns its subject. The installation's
 * webhooks get the events of all owners. The former owner's webhooks get the event of a transfer as well (`former-owner.ts`). A webhook
 * gets no event from before its creation. The row of each queue is locked even if nothing is due, because a worker that ends its lease at
 * the same time must not miss the new deliveries.
 */
export async function fanOutEvents(em: Em, eventIds: readonly string[]): Promise<void> {
  await sql`
    with wanted as (
      select w.id as webhook_id, e.id as event_id, e.type, row_number() over (order by e.position) as place
        from domain_events e
        join webhooks w on w.is_enabled and w.created_at <= e.created_at
         and ((w.organization_id is null and w.team_id is null)
              or w.organization_id = e.organization_id
              or (w.project_id is null and w.team_id = e.team_id)
              or w.project_id = e.project_id
              or ${isOfFormerOwner})
       where e.id = any(${eventIds})
         and exists (select from jsonb_array_elements_text(w.events) p
                      where p = '*' or p = e.type or (right(p, 2) = '.*' and starts_with(e.type, left(p, -1))))
    ), added as (
      insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, due_at)
      select ${sortableId}, now(), webhook_id, event_id, type, 'msg_' || event_id || '_' || webhook_id, 'pending', now()
        from wanted order by place
      returning webhook_id
    )
    update webhook_queues q set next_at = least(q.next_at, greatest(now(), q.quiet_until))
     where q.webhook_id in (select webhook_id from added)`.execute(db(em));
}

/** Like UUIDv7: time first, then the place in the order of the events, so that deliveries are listed and sent in the order of the events. */
const sortableId = sql`(
  lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
  lpad(to_hex((place % 4096)::int), 3, '0') || '8' || substr(md5(event_id::text || webhook_id::text), 1, 15))::uuid`;
