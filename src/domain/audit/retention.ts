import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { insertAuditRecord } from '#domain/shared/audit.ts';
import { newId } from '#domain/shared/ids.ts';
import { systemEntry } from './system-actions.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes the months whose records are all past the retention time, leaves an audit record of each removal, and answers the months.
 * Expired records of a month that is not removed yet are no longer answered (`store.ts`).
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
  const request = { requestId: null, address: null };
  await insertAuditRecord(tx, newId(), systemPrincipal('retention'), entry, request).execute();
  return true;
}
