import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findLiveWorkers, type LiveWorker } from '#domain/workers/placement-store.ts';
import { isUsable, readAllowedTools } from '../attempts/claiming/tool-choice.ts';
import type { Run } from '../entity.ts';
import { publishRunEventOnce } from '../events/publish-event.ts';
import { poolQueue } from '../model.ts';

/** Where the next attempt of a run can be executed. */
export interface Placement {
  /** The task queue of the workers that may claim it; null if no such worker is alive. */
  readonly taskQueue: string | null;
  /** Whether live workers could claim it if they contained template code. */
  readonly hasUncontainedWorkers: boolean;
}

/**
 * Chooses the task queue of the next attempt of a run by the live workers of its pool that have its tool. Workers that contain
 * template code come first. If the pool or the environment demands a sandbox, no other worker will do.
 */
export async function findPlacement(em: Em, run: Run): Promise<Placement> {
  const workers = await findWorkersWithTool(em, run);
  const suitable = workers.filter(isContainedEnough);
  const hasUncontainedWorkers = workers.length > suitable.length;
  if (suitable.length === 0) return { taskQueue: null, hasUncontainedWorkers };
  const isolation = suitable.some(pollsContainedQueue) ? 'sandbox' : 'none';
  return { taskQueue: poolQueue(run.pool, isolation), hasUncontainedWorkers };
}

/** Commands need no tool. Other templates need a worker with an allowed tool of the kind that wrote the state, or of any kind before the first. */
async function findWorkersWithTool(em: Em, run: Run): Promise<LiveWorker[]> {
  const workers = await findLiveWorkers(em, { runId: run.id });
  const { spec } = await loadVersionById(em, run.templateVersionId);
  if (spec.executor.kind === 'command') return workers;
  const allowed = await readAllowedTools(em, run);
  return workers.filter(({ tools, requiredTool: writtenBy }) =>
    tools.some((tool) => isUsable(tool, { writtenBy, allowed })),
  );
}

function isContainedEnough({ isolation, demandsSandbox }: LiveWorker): boolean {
  return isolation === 'sandbox' || !demandsSandbox;
}

/** A worker of the previous release reports no isolation, and polls the queue that contained workers poll. */
function pollsContainedQueue({ isolation }: LiveWorker): boolean {
  return isolation !== 'none';
}

/** Publishes once for a run why no live worker takes it. */
export async function publishUncontainedWorkers(tx: Transaction, run: Run): Promise<void> {
  const data = {
    pool: run.pool,
    message:
      'its pool or environment demands a sandbox, or the egress policy of its pool needs one, and no live worker of its pool contains template code',
  };
  await publishRunEventOnce(tx, run, 'run.not_contained', data, data);
}
