import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type AuditPosition, auditPatterns, auditStream } from '../model.ts';

/** The id of the row of `webhook_cursors` that belongs to the audit. */
const cursorId = '00000000-0000-0000-0000-000000000002';

/**
 * Locks the audit's cursor until the transaction ends, so that one process at a time reads the audit for webhooks. False if another process
 * has the lock.
 */
export async function lockAuditCursor(em: Em): Promise<boolean> {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/webhook audit', 0))`;
  const { isOurs } = await db(em).selectNoFrom(lock.as('isOurs')).executeTakeFirstOrThrow();
  return isOurs;
}

export async function readAuditCursor(em: Em): Promise<AuditPosition | undefined> {
  const row = await db(em).selectFrom('webhook_cursors').where('id', '=', cursorId).select('cursor').executeTakeFirst();
  return row && 'at' in row.cursor ? row.cursor : undefined;
}

export async function keepAuditCursor(em: Em, position: AuditPosition): Promise<void> {
  const text = JSON.stringify(position);
  await db(em)
    .insertInto('webhook_cursors')
    .values({ id: cursorId, cursor: text })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor: text }))
    .execute();
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
 * while no webhook subscribes to the audit. It locks the row of each queue, as `fanOutEvents` does.
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
    ), added as (
      insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, due_at)
      select ${sortableId}, now(), w.id, r.id, ${auditStream}, 'msg_' || r.id || '_' || w.id, 'pending', now()
        from batch r
        join listening w on w.created_at <= r.at
         and ((w.organization_id is null and w.team_id is null)
              or w.organization_id = r.organization_id
              or (w.project_id is null and w.team_id = r.team_id))
       order by r.place
      returning webhook_id
    ), woken as (
      update webhook_queues q set next_at = least(q.next_at, greatest(now(), q.quiet_until))
       where q.webhook_id in (select webhook_id from added)
    )
    select counted.count, last.at::text, last.id::text from (select count(*)::int as count from batch) as counted
      left join (select at, id from batch order by place desc limit 1) as last on true`.execute(db(em));
  const [{ count, at, id } = { count: 0, at: null, id: null }] = rows;
  return { count, last: at !== null && id !== null ? { at: new Date(at).toISOString(), id } : null };
}

/** Like UUIDv7: time first, then the place in the order of the records, so that deliveries are listed and sent in that order. */
const sortableId = sql`(
  lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
  lpad(to_hex((r.place % 4096)::int), 3, '0') || '8' || substr(md5(r.id::text || w.id::text), 1, 15))::uuid`;
