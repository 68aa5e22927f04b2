import type { Em, Orm } from '#database/database.ts';
import { readHorizon } from '#domain/audit/store.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { AuditPosition } from '../model.ts';
import { fanOutRecords, keepAuditCursor, lockAuditCursor, readAuditCursor } from './audit-stream-store.ts';

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
  return orm.em.fork().transactional(async (em) => {
    if (!(await lockAuditCursor(em))) return null;
    const { settled } = await readHorizon(em, margin);
    const present: AuditPosition = { at: settled, id: zeroId };
    const after = await readAuditCursor(em);
    if (!after) return moveTo(em, present);
    const { last, count } = await fanOutRecords(em, { after, settled, limit: batch });
    if (count === batch && last) {
      await keepAuditCursor(em, last);
      return 'more';
    }
    // A clock that was set back must not move the cursor back.
    return settled > after.at ? moveTo(em, present) : 'all';
  });
}

async function moveTo(em: Em, position: AuditPosition): Promise<'all'> {
  await keepAuditCursor(em, position);
  return 'all';
}
