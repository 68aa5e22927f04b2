import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type AuditPosition, auditPatterns, auditStream } from '../model.ts';
import { isOfFormerOwner } from './subject-owner.ts';

/**
 * Adds a delivery of each event for each enabled webhook that subscribes to its type and whose owner owns its subject. The installation's
 * webhooks get the events of all owners. The former owner's webhooks get the event of a transfer as well (`isOfFormerOwner`). A webhook
 * gets no event from before it was created or enabled.
 */
export async function fanOutEvents(em: Em, eventIds: readonly string[]): Promise<void> {
  await sql`
    with wanted as (
      select w.id as webhook_id, e.id as event_id, e.type, row_number() over (order by e.position) as place
        from domain_events e
        join webhooks w on w.is_enabled and greatest(w.created_at, w.enabled_at) <= e.created_at
         and ((w.organization_id is null and w.team_id is null)
              or w.organization_id = e.organization_id
              or (w.project_id is null and w.team_id = e.team_id)
              or w.project_id = e.project_id
              or ${isOfFormerOwner})
       where e.id = any(${eventIds})
         and exists (select from jsonb_array_elements_text(w.events) p
                      where p = '*' or p = e.type or (right(p, 2) = '.*' and starts_with(e.type, left(p, -1))))
    ), ${addWanted} select 1`.execute(db(em));
}

/** The records to deliver next: those after a position and before the time `settled`, in the order of time and id. */
export interface NextRecords {
  readonly after: AuditPosition;
  readonly settled: string;
  readonly limit: number;
}

/**
 * Adds a delivery of each of the next records for each enabled webhook that subscribes to the audit and whose owner the record names. The
 * installation's webhooks get every record. Returns the number of records that it read and the position of the last one. It reads none
 * while no webhook subscribes to the audit.
 */
export async function fanOutRecords(
  em: Em,
  { after, settled, limit }: NextRecords,
): Promise<{ count: number; last: AuditPosition | null }> {
  const { rows } = await sql<{ count: number; at: string | null; id: string | null }>`
    with listening as (
      select w.* from webhooks w
       where w.is_enabled and exists (select from jsonb_array_elements_text(w.events) p where p = any(${auditPatterns}::text[]))
    ), batch as (
      select r.id, r.at, r.organization_id, r.team_id, row_number() over (order by r.at, r.id) as place
        from audit_records r
       where r.at >= ${after.at} and (r.at, r.id) > (${after.at}, ${after.id}) and r.at < ${settled}
         and r.outcome in ('committed', 'refused') and exists (select from listening)
       order by r.at, r.id limit ${limit}
    ), wanted as (
      select w.id as webhook_id, r.id as event_id, ${auditStream}::text as type, r.place
        from batch r
        join listening w on greatest(w.created_at, w.enabled_at) <= r.at
         and ((w.organization_id is null and w.team_id is null)
              or w.organization_id = r.organization_id
              or (w.project_id is null and w.team_id = r.team_id))
    ), ${addWanted}
    select counted.count, last.at::text, last.id::text from (select count(*)::int as count from batch) as counted
      left join (select at, id from batch order by place desc limit 1) as last on true`.execute(db(em));
  const [{ count, at, id } = { count: 0, at: null, id: null }] = rows;
  return { count, last: at !== null && id !== null ? { at: new Date(at).toISOString(), id } : null };
}

/** Like UUIDv7: time first, then the place in the order of what happened, so that deliveries are listed and sent in that order. */
const sortableId = sql`(
  lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
  lpad(to_hex((place % 4096)::int), 3, '0') || '8' || substr(md5(event_id::text || webhook_id::text), 1, 15))::uuid`;

/**
 * The parts of a `with` clause that add a delivery for each row of `wanted` (webhook_id, event_id, type, place). The row of each queue is
 * locked even if nothing is due, because a worker that ends its lease at the same time must not miss the new deliveries.
 */
const addWanted = sql`added as (
      insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, due_at)
      select ${sortableId}, now(), webhook_id, event_id, type, 'msg_' || event_id || '_' || webhook_id, 'pending', now()
        from wanted order by place
      returning webhook_id
    ), woken as (
      update webhook_queues q set next_at = least(q.next_at, greatest(now(), q.quiet_until))
       where q.webhook_id in (select webhook_id from added)
    )`;
