import type { Em } from '#database/database.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import type { Run, RunAttempt } from '../entity.ts';
import { selectEntitledWaiters, selectLackedShare, selectWaiters } from './shares-store.ts';
import type { Step } from './step.ts';

/**
 * Applies the shares of a pool that several teams may use. A team may occupy only a part of its slots, and so may a person while others
 * wait. A run beyond these shares waits before its attempt reaches the engine, so workers never see more attempts of a team than its share.
 */

/** A slot that is freed just before a run begins to wait does not wake the run, so the run checks again soon. */
const firstLookSeconds = 5;
/** How often a waiting run checks its share. Normally a run that frees a slot or a new worker wakes it, so this is the fallback. */
const laterLookSeconds = 300;

export function waitsForShare({ waitingOn }: Pick<Run, 'waitingOn'>): boolean {
  return waitingOn?.code === 'pool_share';
}

/**
 * Returns the step, or a wait if the step would take a slot beyond the shares of the run's team and person. A lock on the slots of the
 * pool, which lasts until the commit, makes runs take them one after the other. It is taken after the locks of rows and quotas.
 */
export async function limitToPoolShare(em: Em, run: Run, step: Step): Promise<Step> {
  if (step.kind !== 'begin' && step.kind !== 'apply' && step.kind !== 'execute') return step;
  await takeAdvisoryLock(em, `worker_pools/${run.pool}/slots`);
  const [lacked] = await selectLackedShare(em, { pool: run.pool, runId: run.id });
  if (!lacked) throw new Error(`the query for the pool share of run ${run.id} returned no row`);
  if (lacked.share === 'none') return step;
  const seconds = waitsForShare(run) ? laterLookSeconds : firstLookSeconds;
  const closes = step.kind === 'execute' ? step.closes : undefined;
  return { kind: 'wait', seconds, waitingOn: { code: 'pool_share', share: lacked.share }, ...(closes && { closes }) };
}

/** Wakes other runs if this run has freed a slot, or has begun or stopped to wait for one. */
export async function passShareOn(
  tx: Transaction,
  run: Run,
  waited: boolean,
  attempt: Pick<RunAttempt, 'outcome'> | null,
): Promise<void> {
  const waits = waitsForShare(run);
  const hasEnded = attempt !== null && (attempt.outcome ?? null) !== null;
  if (waited !== waits || (hasEnded && !waits)) await wakeRunsWaitingForShare(tx, run.pool);
}

/** Wakes the runs that may have a slot of a pool now. */
export async function wakeRunsWaitingForShare(tx: Transaction, pool: string): Promise<void> {
  wake(tx, await selectEntitledWaiters(tx.em, { pool }));
}

/** Wakes the runs that may have a slot now in the pools of a worker that has just become available. */
export async function wakeRunsWaitingForShares(tx: Transaction, pools: readonly string[]): Promise<void> {
  for (const pool of pools) await wakeRunsWaitingForShare(tx, pool);
}

/** Wakes all that wait for a share of a pool, because its rules have changed. */
export async function wakeAllSharers(tx: Transaction, pool: string): Promise<void> {
  wake(tx, await selectWaiters(tx.em, { pool }));
}

function wake(tx: Transaction, waiters: readonly { workflowId: string }[]): void {
  for (const { workflowId } of waiters) tx.notifyEngine(workflowId, { kind: 'signal', signal: wakeSignal });
}
