import { LockMode } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import { addLogBytes } from '#domain/quotas/use/metering-store.ts';
import { wakeNext } from '#domain/quotas/use/slots.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import {
  type AttemptOutcome,
  type AttemptPhase,
  type RunPhase,
  type RunStatus,
  type TerminalStatus,
  wakeSignal,
} from '#domain/shared/vocabulary/runs.ts';
import { recordIncomplete } from '../attempts/deployment-record.ts';
import { findLogEnd } from '../attempts/log-store.ts';
import { serviceDetail } from '../diagnostics/service-detail.ts';
import { withoutSnippet } from '../diagnostics/status-detail.ts';
import { Run, RunAttempt } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { slotRequestOf } from './quota-slot.ts';
import { wakeRunsWaitingForShare } from './shares.ts';
import { releaseSlot } from './slot.ts';
import { discardPlanArtifact, lockInstanceOfAttempt, lockInstanceOfRun } from './store.ts';

/** Locks a run until the commit: first the row of its instance, then its own. Null if there is no such run. */
export async function lockRunInOrder(em: Em, runId: string): Promise<Run | null> {
  await lockInstanceOfRun(em, { runId });
  return em.findOne(Run, { id: runId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

interface LockedAttempt {
  readonly run: Run;
  readonly attempt: RunAttempt;
  /** The serial of the instance's state when it was locked. */
  readonly stateSerial: number;
}

/** The attempts that a transaction has locked. */
const locked = new WeakMap<Em, Map<string, LockedAttempt>>();

/** Locks the instance, then the run, and returns the attempt and the run. It does so once in a transaction. */
export async function lockAttemptInOrder(em: Em, attemptId: string): Promise<LockedAttempt> {
  const ofTransaction = locked.get(em) ?? new Map<string, LockedAttempt>();
  const attempt = ofTransaction.get(attemptId) ?? (await lockAttempt(em, attemptId));
  locked.set(em, ofTransaction.set(attemptId, attempt));
  return attempt;
}

async function lockAttempt(em: Em, attemptId: string): Promise<LockedAttempt> {
  const [found] = await lockInstanceOfAttempt(em, { attemptId });
  if (!found) throw new Error(`there is no attempt ${attemptId}`);
  const { stateSerial } = found;
  const [run, attempt] = await Promise.all([
    em.findOneOrFail(Run, { id: found.runId }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    em.findOneOrFail(RunAttempt, { id: attemptId }),
  ]);
  return { run, attempt, stateSerial };
}

/** Changes the status of a run along a transition, and wakes the workflow that watches the run. */
export function changeStatus(tx: Transaction, run: Run, status: RunStatus, phase?: RunPhase): void {
  const before = run.status;
  run.moveTo(status, phase);
  if (run.parentWorkflowId && before !== status)
    tx.notifyEngine(run.parentWorkflowId, { kind: 'signal', signal: wakeSignal });
}

/** The terminal status of a run and its reason. */
interface RunEnd {
  readonly status: TerminalStatus;
  readonly reason: StatusReason | null;
  /** False if only one team may use the pool, so that no run waits for a share of it. */
  readonly isPoolShared?: boolean;
}

/**
 * Ends a run: sets status, reason and times, and records the event. Deletes the artifact of its plan, releases its slot and wakes the next
 * run in the queue. No other function sets a terminal status.
 */
export async function finishRun(
  tx: Transaction,
  run: Run,
  { status, reason, isPoolShared = true }: RunEnd,
): Promise<void> {
  changeStatus(tx, run, status, 'finished');
  run.statusReason = reason;
  if (status === 'succeeded' || status === 'canceled') run.statusDetail = null;
  else run.statusDetail ??= serviceDetail(run, reason);
  const detail = run.statusDetail ? withoutSnippet(run.statusDetail) : null;
  run.finishedAt = new Date();
  run.attemptId = null;
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.finished', {
    status,
    reason,
    operation: run.operation,
    ...(detail && { status_detail: detail }),
  });
  if (status !== 'succeeded' && run.isWriter()) await recordIncomplete(tx.em, run);
  tx.write(discardPlanArtifact({ runId: run.id }));
  tx.write(addLogBytes({ runId: run.id, createdAt: run.createdAt.toISOString() }));
  await releaseSlot(tx, run);
  if (!run.isScan()) await wakeNext(tx, slotRequestOf(run), 'all');
  if (isPoolShared) await wakeRunsWaitingForShare(tx, run.pool);
}

/** Opens an attempt at a phase. Its id is the fencing token: from now on the writes of older attempts are refused. */
export async function openAttempt(em: Em, run: Run, phase: AttemptPhase, isFirst: boolean): Promise<RunAttempt> {
  const last = isFirst ? undefined : await findLogEnd(em, run);
  const attempt = em.create(RunAttempt, {
    id: newId(),
    runId: run.id,
    phase,
    logBase: last?.sequence ?? 0,
    lineBase: last?.lines ?? 0,
    startedAt: new Date(),
  });
  em.persist(attempt);
  run.attemptId = attempt.id;
  run.statusDetail = null;
  await em.flush();
  return attempt;
}

export function closeAttempt(attempt: RunAttempt, outcome: AttemptOutcome): void {
  attempt.outcome = outcome;
  attempt.finishedAt = new Date();
}
