import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';
import { nobody } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Removes the months in which every record is out of retention, and leaves a record of each. Of a month that is only partly out
 * of retention, the old records stay and are no longer answered (`records.ts`). Answers the removed months.
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

/** False where another process has removed the month, or is about to. A month may come back with records of that time. */
async function removeMonth(deps: SystemCommandDeps, month: string, retentionDays: number): Promise<boolean> {
  const command = { action: 'audit_records.expired', target: { month }, key: null } as const;
  const change = await runSystemCommand(deps, command, {
    find: async () => nobody,
    act: async ({ em }) => {
      const records = await dropMonth(em, 'audit_records', month);
      if (records === undefined) throw new NothingToDo();
      return { id: month, after: { records, retentionDays } };
    },
  });
  return change !== undefined;
}
