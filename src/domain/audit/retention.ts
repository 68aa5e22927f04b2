import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes the months whose records are all past the retention time, leaves an audit record of each removal, and returns the
 * months. Expired records of a month that is not removed yet are no longer shown (`store.ts`).
 */
export async function removeExpired(
  em: Em,
  deps: SystemCommandDeps,
  retentionDays: number,
  now = new Date(),
): Promise<string[]> {
  const months = await findMonthsBefore(em, 'audit_records', new Date(now.getTime() - retentionDays * dayMs));
  const removed: string[] = [];
  for (const month of months) {
    if (await removeMonth(deps, month, retentionDays)) removed.push(month);
  }
  return removed;
}

/** False if another process has removed the month, or is about to. A month may come back with records of that time. */
async function removeMonth(deps: SystemCommandDeps, month: string, retentionDays: number): Promise<boolean> {
  const command = { action: 'audit_records.expired', target: { month }, cause: null } as const;
  const change = await runSystemCommand(deps, command, {
    find: async () => installationOwnership,
    act: async ({ em }) => {
      const records = await dropMonth(em, 'audit_records', month);
      if (records === undefined) throw new NothingToDo();
      return { id: month, after: { records, retentionDays } };
    },
  });
  return change !== undefined;
}
