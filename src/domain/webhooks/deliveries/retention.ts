import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';

const keptDays = 30;
const dayMs = 24 * 60 * 60 * 1000;

/** Drops the months whose deliveries are all older than 30 days, also those that still wait because their webhook is disabled. */
export async function dropOldDeliveries(em: Em, now = new Date()): Promise<string[]> {
  const months = await findMonthsBefore(em, 'webhook_deliveries', new Date(now.getTime() - keptDays * dayMs));
  const dropped: string[] = [];
  for (const month of months) {
    const rows = await em.transactional((tx) => dropMonth(tx, 'webhook_deliveries', month));
    if (rows !== undefined) dropped.push(month);
  }
  return dropped;
}
