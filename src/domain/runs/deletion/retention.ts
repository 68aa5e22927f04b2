import type { Em } from '#database/database.ts';
import { findRemovedBefore, type MonthlyTable } from '#database/partitions.ts';
import { declaredTables } from '#domain/db.ts';
import { keepEventNumbers } from '#domain/shared/events/retention.ts';
import { firstIdAt } from '#domain/shared/ids.ts';
import type { MonthlyRetention } from '#domain/shared/retention/monthly-retention.ts';
import { terminalStatuses } from '#domain/shared/vocabulary/runs.ts';

/** Whether a run or an assembly run that was admitted before a moment has not ended yet: such a run still needs its stored rows. */
async function isUnfinished(em: Em, table: 'runs' | 'assembly_runs', before: Date): Promise<boolean> {
  const run = await declaredTables(em)
    .selectFrom(table)
    .where('status', 'not in', terminalStatuses)
    .where('id', '<', firstIdAt(before))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return run !== undefined;
}

const isRunUnfinished = (em: Em, before: Date) => isUnfinished(em, 'runs', before);

/** The summary of a plan and its digest stay with the run. Without the plan, a run cannot be undone selectively. */
export const planRetention: MonthlyRetention = {
  table: 'run_plans',
  action: 'run_plans.expired',
  isNeeded: isRunUnfinished,
};

export const logRetention: MonthlyRetention = {
  table: 'run_log_chunks',
  action: 'run_logs.expired',
  isNeeded: isRunUnfinished,
};

/** The events of a run or an assembly run show its history, and decide who may review it, until it has ended. */
export const eventRetention: MonthlyRetention = {
  table: 'domain_events',
  action: 'events.expired',
  isNeeded: async (em: Em, monthEnd) =>
    (await isUnfinished(em, 'runs', monthEnd)) || (await isUnfinished(em, 'assembly_runs', monthEnd)),
  beforeDrop: keepEventNumbers,
};

/**
 * The time before which retention has removed rows of a run from a table; null if the run was admitted later. A run of this month needs no
 * query.
 * @param createdAt when the run was admitted
 */
export async function findRemovedOfRun(em: Em, table: MonthlyTable, createdAt: Date): Promise<Date | null> {
  const now = new Date();
  if (createdAt.getTime() >= Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)) return null;
  const before = await findRemovedBefore(em, table);
  return before !== null && createdAt < before ? before : null;
}
