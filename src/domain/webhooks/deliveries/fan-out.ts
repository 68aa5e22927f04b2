import type { Orm } from '#database/database.ts';
import { readHorizon } from '#domain/audit/store.ts';
import { followEvents, moveCursor } from '#domain/shared/events/kept-cursor.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { AuditPosition } from '../model.ts';
import { fanOutEvents, fanOutRecords } from './fan-out-store.ts';

/** Creates the deliveries of the next events. Returns the number of events that it read, or null while another process does this. */
export function fanOut(orm: Orm): Promise<number | null> {
  return followEvents(orm, {
    table: 'webhook_cursors',
    lock: 'delivery-coordinator/webhook fan-out',
    take: (em, events) =>
      fanOutEvents(
        em,
        events.map(({ id }) => id),
      ),
  });
}

const auditCursor = {
  table: 'webhook_cursors',
  id: '00000000-0000-0000-0000-000000000002',
  lock: 'delivery-coordinator/webhook audit',
} as const;
const batch = 500;
/** The margin for transactions that have taken the time of a record and do not have a transaction id yet. */
const marginSeconds = 5;

/**
 * Creates the deliveries of the next audit records for the webhooks that subscribe to the audit, and moves the cursor past these records,
 * in one transaction. It reads the records in the order of their times, once no transaction can add an earlier one. So commands need not
 * write anything for it, and a record is sent `margin` seconds after it was made, or later if a transaction takes longer. Returns whether
 * there may be more records, or null while another process does this. The first call starts at the present time.
 */
export function streamAudit(orm: Orm, margin = marginSeconds): Promise<'more' | 'all' | null> {
  return moveCursor<AuditPosition, 'more' | 'all'>(orm, auditCursor, async (em, after) => {
    const { settled } = await readHorizon(em, margin);
    const present = { at: settled, id: zeroId };
    if (!after) return { cursor: present, result: 'all' };
    const { last, count } = await fanOutRecords(em, { after, settled, limit: batch });
    if (count === batch && last) return { cursor: last, result: 'more' };
    // A clock that was set back must not move the cursor back.
    return { cursor: settled > after.at ? present : after, result: 'all' };
  });
}
