import type { Em } from '#database/database.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findLiveWorkers, isContainedEnough, type LiveWorker } from '#domain/workers/placement-store.ts';
import { keepBestEquipped, readToolRules } from '../attempts/claiming/tool-choice.ts';
import type { Run } from '../entity.ts';
import { publishRunEventOnce } from '../events/publish-event.ts';
import { poolQueue } from '../model.ts';

/** Where the next attempt of a run can be executed. */
export interface Placement {
  /** The task queue of the workers that may claim it; null if no such worker is alive. */
  readonly taskQueue: string | null;
  /** Whether live workers could claim it if they contained template code. */
  readonly hasUncontainedWorkers: boolean;
  /** The tools of which a worker must have one; empty if any tool is usable. */
  readonly wantedTools: { name: string; version: string }[];
}

/**
 * Chooses the task queue of the next attempt of a run by the live workers of its pool that have the best tool for it. Workers that contain
 * template code come first. If the pool or the environment demands a sandbox, only such workers count.
 */
export async function findPlacement(em: Em, run: Run): Promise<Placement> {
  const [live, rules] = await Promise.all([findLiveWorkers(em, { runId: run.id }), readToolRules(em, run)]);
  const workers = rules ? live.filter(({ tools }) => tools.some(rules.isUsable)) : live;
  const contained = workers.filter(isContainedEnough);
  const suitable = rules ? keepBestEquipped(contained, rules) : contained;
  const reasons = { hasUncontainedWorkers: workers.length > contained.length, wantedTools: rules?.wanted ?? [] };
  if (suitable.length === 0) return { taskQueue: null, ...reasons };
  const isolation = suitable.some(pollsContainedQueue) ? 'sandbox' : 'none';
  return { taskQueue: poolQueue(run.pool, isolation), ...reasons };
}

/** A worker of the previous release reports no isolation, and polls the queue that contained workers poll. */
function pollsContainedQueue({ isolation }: LiveWorker): boolean {
  return isolation !== 'none';
}

/** Publishes once for a run that its pool has live workers, but none that contains template code. */
export async function publishUncontainedWorkers(tx: Transaction, run: Run): Promise<void> {
  const data = {
    pool: run.pool,
    message:
      'its pool or environment demands a sandbox, or the egress policy of its pool needs one, and no live worker of its pool contains template code',
  };
  await publishRunEventOnce(tx, run, 'run.not_contained', data, data);
}
