import type { Em } from '#database/database.ts';
import { findHold } from '#domain/holds/holds.ts';
import { policyOf, strictestPolicy } from '#domain/shared/vocabulary/approval.ts';
import { isOpenTo } from '#domain/workers/pools/model.ts';
import { countApprovals, findLapses, type Lapse } from '../approval/rules.ts';
import { toApprovalFacts } from '../approval/store.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { plansNothingBeyond } from '../plans/changes-store.ts';
import { findPlacement, type Placement } from './placement.ts';
import { findMissingSlot } from './quota-slot.ts';
import { findBlocker } from './slot.ts';
import type { StepFacts } from './step.ts';
import { selectStepFacts } from './store.ts';

/** Facts that only the workflow knows. */
export interface WorkflowFacts {
  /** The last attempt whose activity has ended, well or not; null before the first. */
  readonly executed: string | null;
  /** Whether the workflow itself was canceled. */
  readonly canceled: boolean;
  /** Whether the last step was to wait for a worker with an expired heartbeat. */
  readonly suspected?: boolean;
  /** The queue of the worker that executes the next attempt itself, and checks whether it may. By default, the live workers of the pool decide. */
  readonly queue?: string;
}

/** The facts of the next step of a run, with the rows that carrying the step out needs. */
export interface StepContext {
  readonly facts: StepFacts;
  readonly attempt: RunAttempt | null;
  readonly stateSerial: number;
  /** Where the run can be executed, if that is known: always for a queued run, which begins only once a worker may execute it. */
  readonly placement: Placement | null;
  /** Whether more than one team may use its pool, so that each has a share. */
  readonly isPoolShared: boolean;
  /** Whether the instance has unfinished scans. */
  readonly hasScans: boolean;
  /** The approvals of the plan that no longer count. */
  readonly lapses: readonly Lapse[];
}

/** Reads the facts in one round trip. The caller has locked the run and its instance. */
export async function readStepContext(em: Em, run: Run, workflow: WorkflowFacts): Promise<StepContext> {
  const known = placementOn(workflow.queue);
  const mayBegin = run.status === 'queued' && !workflow.canceled;
  const [[row], attempt, placement, keepsToPlan, fullQuota] = await Promise.all([
    selectStepFacts(em, { runId: run.id }),
    run.attemptId ? em.findOne(RunAttempt, { id: run.attemptId }) : null,
    mayBegin && !known ? findPlacement(em, run) : known,
    run.expectedPlanRunId ? plansNothingBeyond(em, run.id, run.expectedPlanRunId) : true,
    findMissingSlot(em, run, workflow.canceled),
  ]);
  if (!row) throw new Error(`the query for the facts of run ${run.id} returned no row although the run is locked`);
  const now = new Date();
  const approval = row.approval && toApprovalFacts(row.approval);
  const lapses = approval ? findLapses(approval) : [];
  const facts: StepFacts = {
    run,
    attempt,
    workerLiveness: row.workerLiveness,
    lostAttempts: row.lostAttempts,
    // A run keeps the stricter of the policies at its admission and now.
    policy: strictestPolicy(policyOf(run), row.presentPolicy),
    approvals: approval ? countApprovals(approval) : 0,
    lapses: lapses.length,
    hold: findHold(row.holds, now),
    planIsCurrent: row.planSerial === row.stateSerial,
    isPinCurrent: keepsToPlan && isAsExpected(run, row),
    poolIsOpen: isOpenTo(row.poolAccess, run),
    blocker: row.slotQueue && findBlocker(run.id, row.slotQueue),
    fullQuota,
    isChanging: row.isChanging ?? false,
    hasWorker: typeof placement?.taskQueue === 'string',
    executed: workflow.executed,
    canceled: workflow.canceled,
    suspected: workflow.suspected ?? false,
    now,
  };
  const { stateSerial, isPoolShared, hasScans } = row;
  return { facts, attempt, stateSerial, placement, isPoolShared, hasScans, lapses };
}

function placementOn(queue: string | undefined): Placement | null {
  return queue === undefined ? null : { taskQueue: queue, hasUncontainedWorkers: false, wantedTools: [] };
}

/** Whether the instance still has the state and the deployment that the run expects. */
function isAsExpected(run: Run, now: { readonly stateSerial: number; readonly deployedRunId: string | null }): boolean {
  const { expectedStateSerial = null, expectedDeployedRunId = null } = run;
  return (
    expectedStateSerial === null ||
    (expectedStateSerial === now.stateSerial && expectedDeployedRunId === now.deployedRunId)
  );
}
