import type { Transaction } from '#domain/shared/transaction.ts';
import { isOpenTo, readPoolAccess } from '#domain/workers/pools.ts';
import { chooseQueue, noWorkerRetrySeconds } from './dispatch.ts';
import { type Run, RunAttempt, RunPlan } from './entity.ts';
import { recordEvent } from './events.ts';
import { engagementSeconds, lookAfter } from './loss.ts';
import { type AttemptPhase, type NextStep, needsApproval, phasePriority, type StatusReason } from './model.ts';
import { closeAttempt, finishRun, lockRunInOrder, openAttempt } from './transitions.ts';
import { takeTurn } from './turn.ts';

/** How often a plan whose worker was lost is tried. */
const maximumPlanAttempts = 3;
/** An apply is tried once, unless its template says that repeating it is safe. */
const maximumSafeApplyAttempts = 3;
/** An attempt that nobody took for this long is put where live workers look now: those of its queue may be gone. */
const redispatchAfterSeconds = 600;

/** What the workflow knows that the database does not. */
export interface StepRequest {
  readonly runId: string;
  /** The attempt that the workflow has just executed, or saw fail; null before the first. */
  readonly executed: string | null;
  /** Whether the workflow itself was cancelled. */
  readonly canceled: boolean;
  /** Whether the last answer was to wait for a worker that is not heard of. */
  readonly suspected?: boolean;
}

/**
 * Moves a run as far as it goes without executing anything, and says what comes next. The whole life of a run is
 * decided here, under the run's lock, so that the workflow stays a loop and a repeated call is harmless.
 */
export async function takeNextStep(tx: Transaction, request: StepRequest): Promise<NextStep> {
  const run = await lockRunInOrder(tx.em, request.runId);
  return run ? moveOn(tx, run, request) : { kind: 'end' };
}

/** The same for a run that the caller has locked. */
export async function moveOn(tx: Transaction, run: Run, request: Omit<StepRequest, 'runId'>): Promise<NextStep> {
  if (run.isFinished()) return { kind: 'end' };
  if (request.canceled || run.status === 'canceling') return cancelNow(tx, run, request);
  switch (run.status) {
    case 'queued':
      return start(tx, run);
    case 'running':
      return goOn(tx, run, request);
    case 'pending_approval':
      return awaitApproval(tx, run);
    default:
      return { kind: 'end' };
  }
}

async function start(tx: Transaction, run: Run): Promise<NextStep> {
  if (!isOpenTo(await readPoolAccess(tx.em, run.pool), run)) return end(tx, run, 'failed', 'pool_closed');
  const turn = await takeTurn(tx.em, run);
  if (!turn.taken) {
    run.waitFor(turn.code, turn);
    await tx.em.flush();
    return { kind: 'wait', seconds: turn.retryAfterSeconds };
  }
  run.startedAt = new Date();
  run.stateSerialBefore = turn.stateSerial;
  run.moveTo('running', 'planning');
  await recordEvent(tx.em, run.id, 'run.planning');
  return execute(tx, run, 'planning', turn.taskQueue);
}

async function goOn(tx: Transaction, run: Run, request: Omit<StepRequest, 'runId'>): Promise<NextStep> {
  const attempt = await tx.em.findOneOrFail(RunAttempt, { id: run.attemptId ?? '' });
  if (attempt.outcome === null) {
    if (attempt.id !== request.executed) return resume(tx, run, attempt);
    return (await lookAfter(tx.em, run, attempt, request.suspected ?? false)) ?? lost(tx, run, attempt);
  }
  const { outcome, phase } = attempt;
  if (outcome === 'planned' || outcome === 'unchanged') return decidePlan(tx, run, outcome === 'planned');
  if (outcome === 'applied') return end(tx, run, 'succeeded');
  if (outcome === 'handed_back') return execute(tx, run, phase);
  if (outcome === 'lost') return goOnAfterLoss(tx, run, phase);
  if (outcome === 'canceled') return end(tx, run, 'canceled', 'canceled_by_user');
  if (outcome === 'timed_out') return end(tx, run, 'timed_out', timeoutReason(run, phase));
  return end(tx, run, 'failed', run.statusReason ?? (phase === 'planning' ? 'plan_failed' : 'apply_failed'));
}

/** A step's own timeout counts before its phase's. Workers of earlier releases kept another word for the phase's. */
function timeoutReason({ statusReason }: Run, phase: AttemptPhase): StatusReason {
  if (statusReason === 'step_timeout') return statusReason;
  return phase === 'planning' ? 'plan_timeout' : 'apply_timeout';
}

/** The worker of an attempt went away. One that never began is simply executed again. */
async function lost(tx: Transaction, run: Run, attempt: RunAttempt): Promise<NextStep> {
  closeAttempt(attempt, attempt.workerId ? 'lost' : 'handed_back');
  await tx.em.flush();
  if (!attempt.workerId) return execute(tx, run, attempt.phase);
  await recordEvent(tx.em, run.id, 'run.attempt_lost', { phase: attempt.phase });
  return goOnAfterLoss(tx, run, attempt.phase);
}

/** Planning is tried again; an apply is not, unless that is known to be safe. */
async function goOnAfterLoss(tx: Transaction, run: Run, phase: AttemptPhase): Promise<NextStep> {
  const tried = await tx.em.count(RunAttempt, { runId: run.id, phase, outcome: 'lost' });
  if (phase === 'planning') {
    return tried < maximumPlanAttempts ? execute(tx, run, 'planning') : end(tx, run, 'failed', 'plan_interrupted');
  }
  const again = run.retrySafe && tried < maximumSafeApplyAttempts;
  return again ? execute(tx, run, 'applying') : end(tx, run, 'failed', 'apply_interrupted');
}

async function decidePlan(tx: Transaction, run: Run, changes: boolean): Promise<NextStep> {
  if (run.operation === 'plan' || !changes) return end(tx, run, 'succeeded');
  const policy = { required: run.approvalRequired, when: run.approvalWhen };
  const destroys = run.operation === 'destroy' || (run.planSummary?.destroy ?? 0) > 0;
  if (!needsApproval(policy, { changes, destroys })) return apply(tx, run);
  run.moveTo('pending_approval', 'approval');
  run.approvalExpiresAt = new Date(Date.now() + run.timeouts.approval * 1000);
  run.waitFor('approval');
  await tx.em.flush();
  await recordEvent(tx.em, run.id, 'run.approval_required', {
    required: run.approvalRequired,
    digest: run.planDigest ?? null,
  });
  return awaitApproval(tx, run);
}

/** The decision stands in the database: reviews are counted here once more before anything is applied. */
async function awaitApproval(tx: Transaction, run: Run): Promise<NextStep> {
  if (await isApproved(tx, run)) return apply(tx, run);
  const remainingMs = (run.approvalExpiresAt?.getTime() ?? 0) - Date.now();
  if (remainingMs <= 0) return end(tx, run, 'timed_out', 'approval_timeout');
  return { kind: 'wait', seconds: Math.ceil(remainingMs / 1000) };
}

async function isApproved(tx: Transaction, run: Run): Promise<boolean> {
  const rows = await tx.em.execute<{ approvals: number }[]>(
    `select count(*)::int as approvals from run_reviews where run_id = ? and decision = 'approve' and plan_digest = ?`,
    [run.id, run.planDigest],
  );
  return (rows[0]?.approvals ?? 0) >= run.approvalRequired;
}

async function apply(tx: Transaction, run: Run): Promise<NextStep> {
  const plan = await tx.em.findOneOrFail(RunPlan, { runId: run.id });
  const rows = await tx.em.execute<{ state_serial: number }[]>(`select state_serial from instances where id = ?`, [
    run.instanceId,
  ]);
  if (rows[0]?.state_serial !== plan.stateSerial) return end(tx, run, 'failed', 'plan_moved');
  run.moveTo('running', 'applying');
  await recordEvent(tx.em, run.id, 'run.applying', { digest: run.planDigest ?? null });
  return execute(tx, run, 'applying');
}

/** Opens an attempt. Until a worker of the pool claims it, that is what the run waits for. */
async function execute(tx: Transaction, run: Run, phase: AttemptPhase, taskQueue?: string): Promise<NextStep> {
  run.waitFor('no_worker');
  return resume(tx, run, await openAttempt(tx.em, run, phase), taskQueue);
}

/** Puts an open attempt where a worker takes it that may; while there is none, the attempt waits open. */
async function resume(tx: Transaction, run: Run, attempt: RunAttempt, chosen?: string): Promise<NextStep> {
  const taskQueue = chosen ?? (await chooseQueue(tx.em, run));
  if (taskQueue === null) return { kind: 'wait', seconds: noWorkerRetrySeconds };
  return {
    kind: 'execute',
    attemptId: attempt.id,
    taskQueue,
    timeoutSeconds: engagementSeconds(run, attempt.phase),
    startWithinSeconds: redispatchAfterSeconds,
    priority: phasePriority[attempt.phase],
  };
}

/**
 * Ends a canceled run once nothing of it executes any more. What its last attempt did stays true: an apply that was finished
 * succeeded, and one whose state could not be stored failed.
 */
async function cancelNow(tx: Transaction, run: Run, request: Omit<StepRequest, 'runId'>): Promise<NextStep> {
  const attempt = run.attemptId ? await tx.em.findOne(RunAttempt, { id: run.attemptId }) : null;
  const waiting = attempt?.outcome === null && (await lookAfter(tx.em, run, attempt, request.suspected ?? false));
  if (waiting) return waiting;
  if (attempt?.outcome === 'applied') return end(tx, run, 'succeeded');
  if (run.statusReason === 'state_refused') return end(tx, run, 'failed', 'state_refused');
  const cutOff = attempt?.phase === 'applying' && attempt.workerId && (attempt.outcome ?? 'lost') === 'lost';
  if (attempt && attempt.outcome === null) closeAttempt(attempt, cutOff ? 'lost' : 'canceled');
  return cutOff
    ? end(tx, run, 'failed', 'apply_interrupted')
    : end(tx, run, 'canceled', run.statusReason ?? 'canceled_by_user');
}

async function end(
  tx: Transaction,
  run: Run,
  status: Parameters<typeof finishRun>[2],
  reason: StatusReason | null = null,
): Promise<NextStep> {
  await finishRun(tx, run, status, reason);
  return { kind: 'end' };
}
