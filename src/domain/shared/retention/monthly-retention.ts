import type { Em } from '#database/database.ts';
import { dropMonth, endOfMonth, findMonthsBefore, type MonthlyTable } from '#database/partitions.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { SystemAction } from '#domain/system-actions.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** How retention removes the rows of a monthly table. The `area.ts` of an area declares it, by the name of its setting. */
export interface MonthlyRetention {
  readonly table: MonthlyTable;
  readonly action: SystemAction;
  /** Whether anything still needs rows of months that ended at this moment or before. Such a month stays. */
  readonly isNeeded?: (em: Em, monthEnd: Date) => Promise<boolean>;
  /** Copies what must be kept of a month before it is dropped, in the same transaction. */
  readonly beforeDrop?: (em: Em, month: string) => Promise<void>;
}

/**
 * Removes the months whose rows are all past the retention time, leaves an audit record of each removal, and returns the months. A month
 * that is still needed stays, with all later ones, until the next call.
 */
export async function removeExpiredMonths(
  em: Em,
  deps: SystemCommandDeps,
  retention: MonthlyRetention,
  retentionDays: number,
  now = new Date(),
): Promise<string[]> {
  const months = await findMonthsBefore(em, retention.table, new Date(now.getTime() - retentionDays * dayMs));
  const removed: string[] = [];
  for (const month of months) {
    if (await retention.isNeeded?.(em, endOfMonth(month))) break;
    if (await removeMonth(deps, retention, month, retentionDays)) removed.push(month);
  }
  return removed;
}

/** Removes a month; false if another process has removed it or is removing it. Later rows of that time may create the month again. */
async function removeMonth(
  deps: SystemCommandDeps,
  { table, action, beforeDrop }: MonthlyRetention,
  month: string,
  retentionDays: number,
): Promise<boolean> {
  const change = await runSystemCommand(
    deps,
    { action, target: { month }, cause: null },
    {
      find: async () => installationOwnership,
      act: async ({ em }) => {
        const records = await dropMonth(em, table, month, beforeDrop);
        if (records === undefined) throw new NothingToDo();
        return { id: month, after: { records, retentionDays } };
      },
    },
  );
  return change !== undefined;
}
