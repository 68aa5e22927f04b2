import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { insertAuditRecord } from '#domain/shared/audit.ts';
import { newId } from '#domain/shared/ids.ts';
import { systemEntry } from './system-actions.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes the months of which every record is out of retention, and leaves a record of each. Records of a month that is
 * out of it in part are not answered any more (`records.ts`). Answers the months.
 */
export async function removeExpired(em: Em, retentionDays: number, now = new Date()): Promise<string[]> {
  const months = await findMonthsBefore(em, 'audit_records', new Date(now.getTime() - retentionDays * dayMs));
  const removed: string[] = [];
  for (const month of months) {
    if (await em.transactional((tx) => removeMonth(tx, month, retentionDays))) removed.push(month);
  }
  return removed;
}

async function removeMonth(tx: Em, month: string, retentionDays: number): Promise<boolean> {
  const records = await dropMonth(tx, 'audit_records', month);
  if (records === undefined) return false;
  const entry = systemEntry('audit_records.expired', month, { records, retention_days: retentionDays });
  await insertAuditRecord(tx, newId(), systemPrincipal('retention'), entry, {
    requestId: null,
    address: null,
  }).execute();
  return true;
}
