import type { Em, Orm } from '#database/database.ts';
import { readHorizon } from '#domain/audit/store.ts';
import { db } from '#domain/db.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { followEvents, followFromPresent, moveCursor } from '#domain/shared/events/kept-cursor.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { AuditPosition } from '../model.ts';
import { fanOutEvents, fanOutRecords } from './fan-out-store.ts';

const table = 'webhook_cursors';

/**
 * Creates the deliveries of the next events, if any webhook hears events. Returns the number of events that it read, or null while another
 * process does this.
 */
export async function fanOut(orm: Orm): Promise<number | null> {
  const take = (em: Em, events: readonly PublishedEvent[]) =>
    fanOutEvents(
      em,
      events.map(({ id }) => id),
    );
  if (await isHeard(orm.em.fork())) return followEvents(orm, { table, take });
  await followFromPresent(orm, { table }, isHeard);
  return 0;
}

/** Whether any webhook is enabled. One that is enabled later hears nothing from before. */
async function isHeard(em: Em): Promise<boolean> {
  const enabled = db(em).selectFrom('webhooks').where('isEnabled', '=', true).select('id').limit(1);
  return (await enabled.executeTakeFirst()) !== undefined;
}

const auditCursor = { table, id: '00000000-0000-0000-0000-000000000002' } as const;
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
  const start = async (em: Em): Promise<AuditPosition> => ({ at: (await readHorizon(em, margin)).settled, id: zeroId });
  return moveCursor<AuditPosition, 'more' | 'all'>(orm, auditCursor, start, async (em, after) => {
    const { settled } = await readHorizon(em, margin);
    const { last, count } = await fanOutRecords(em, { after, settled, limit: batch });
    if (count === batch && last) return { cursor: last, result: 'more' };
    // A clock that was set back must not move the cursor back.
    return { ...(settled > after.at && { cursor: { at: settled, id: zeroId } }), result: 'all' };
  });
}
