import type { Em } from '#database/database.ts';
import { findRemovedOfRun } from '#domain/runs/deletion/retention.ts';
import { readProgress } from '#domain/runs/store.ts';
import { NotFound } from '#domain/shared/errors.ts';

/** The error for a run without a plan. It says if retention may have removed the plan. */
export async function missingPlan(em: Em, runId: string): Promise<NotFound> {
  const run = await readProgress(em, runId);
  const removedBefore = run && (await findRemovedOfRun(em, 'run_plans', new Date(run.createdAt)));
  const reason = removedBefore
    ? ': plans of runs from before ' +
      removedBefore.toISOString().slice(0, 10) +
      ' were removed, because they were out of retention'
    : '';
  return new NotFound('a plan of this run', reason);
}
