import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { terminalStatuses } from '#domain/runs/model.ts';
import { firstIdAt } from '#domain/shared/ids.ts';

/** Whether an assembly run that was admitted before a moment has not ended yet. */
export async function isAssemblyRunUnfinished(em: Em, before: Date): Promise<boolean> {
  const run = await db(em)
    .selectFrom('assembly_runs')
    .where('status', 'not in', terminalStatuses)
    .where('id', '<', firstIdAt(before))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return run !== undefined;
}
