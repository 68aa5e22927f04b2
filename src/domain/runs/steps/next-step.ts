import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import { type AttemptPhase, isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { attemptTimeoutSeconds } from '../attempts/limits.ts';
import { findBrokenPin, findFullQuota, findObstacle } from './obstacles.ts';
import { type Closing, finish, type Step, type StepFacts } from './step.ts';

/** How many times planning is tried when its workers are lost. */
const maxPlanAttempts = 3;
/** An apply is tried once, unless its template declares that repeating it is safe. */
const maxSafeApplyAttempts = 3;
/** How often a run that waits for the slot checks it. Normally the run that frees the slot wakes the next one, so this is the fallback. */
const busyRetrySeconds = 300;
/** How long to wait before looking for workers of the pool again. */
export const noWorkerRetrySeconds = 5;
/** How long to wait for a heartbeat in the database from a worker that the engine considers lost: more than one interval. */
const lookAgainSeconds = 6;

/** Decides the next step of a run. Pure: `takeNextStep` reads the facts and carries out the step, while the run is locked. */
export function decideNextStep(facts: StepFacts): Step {
  const { status } = facts.run;
  if (isTerminal(status)) return { kind: 'nothing' };
  if (facts.canceled || status === 'canceling') return decideCancellation(facts);
  if (status === 'queued') return decideBegin(facts);
  return status === 'running' ? decideRunning(facts) : decideApply(facts);
}

function decideBegin(facts: StepFacts): Step {
  const { poolIsOpen, blocker, hasWorker } = facts;
  if (!poolIsOpen) return finish('failed', 'pool_closed');
  if (facts.isChanging) return finish('canceled', 'gave_way');
  if (blocker) {
    const waitingOn = { code: 'instance_busy', position: blocker.position, blocker: blocker.id } as const;
    return { kind: 'wait', seconds: busyRetrySeconds, waitingOn };
  }
  const stale = findBrokenPin(facts);
  if (stale) return stale;
  const full = findFullQuota(facts);
  if (full) return full;
  if (!hasWorker) return { kind: 'wait', seconds: noWorkerRetrySeconds, waitingOn: { code: 'no_worker' } };
  return { kind: 'begin' };
}

function decideRunning(facts: StepFacts): Step {
  const attempt = requireAttempt(facts);
  const { run } = facts;
  const isPlanning = attempt.phase === 'planning';
  switch (attempt.outcome ?? null) {
    case null:
      return attempt.id === facts.executed ? (waitForWorker(facts) ?? decideLoss(facts)) : { kind: 'resume' };
    case 'planned':
      return decidePlan(facts);
    case 'unchanged':
      return decideUnchanged(facts);
    case 'applied':
      return finish('succeeded');
    case 'handed_back':
      return execute(facts);
    case 'lost':
      return decideRetry(facts, facts.lostAttempts);
    case 'canceled':
      return finish('canceled', 'canceled_by_user');
    case 'timed_out':
      return finish('timed_out', timeoutReason(run, attempt.phase));
    default:
      return finish('failed', run.statusReason ?? (isPlanning ? 'plan_failed' : 'apply_failed'));
  }
}

/** The timeout of a step is reported before that of its phase. Workers of earlier releases stored another reason for the phase. */
function timeoutReason({ statusReason }: StepFacts['run'], phase: AttemptPhase): StatusReason {
  if (statusReason === 'step_timeout') return statusReason;
  return phase === 'planning' ? 'plan_timeout' : 'apply_timeout';
}

/**
 * The step that waits for the worker of an open attempt; null if that worker is lost, or no worker has the attempt.
 *
 * The engine loses every heartbeat while it is down itself, and an apply that continues must not count as interrupted because of that. The
 * database knows which workers are alive, and a worker ends its attempts even when it fails, so a worker that is alive is still executing.
 * A worker without a heartbeat is checked a second time: the database may have been down as well.
 */
function waitForWorker({ run, attempt, workerLiveness, suspected, now }: StepFacts): Step | null {
  if (!attempt?.workerId) return null;
  const elapsedMs = now.getTime() - attempt.startedAt.getTime();
  if (elapsedMs > attemptTimeoutSeconds(run, attempt.phase) * 1000) return null;
  if (workerLiveness === 'alive') return { kind: 'wait', seconds: lookAgainSeconds };
  const isSuspect = workerLiveness === 'silent' && !suspected;
  return isSuspect ? { kind: 'wait', seconds: lookAgainSeconds, suspects: true } : null;
}

/** Decides about an open attempt whose worker is lost. An attempt that no worker had claimed is simply executed again. */
function decideLoss(facts: StepFacts): Step {
  const { workerId } = requireAttempt(facts);
  if (!workerId) return execute(facts, { outcome: 'handed_back', isReported: false });
  return decideRetry(facts, facts.lostAttempts + 1, { outcome: 'lost', isReported: true });
}

/** Planning is tried again; an apply is not, unless its template declares that as safe. */
function decideRetry(facts: StepFacts, lostAttempts: number, closes?: Closing): Step {
  const isPlanning = requireAttempt(facts).phase === 'planning';
  const max = isPlanning ? maxPlanAttempts : maxSafeApplyAttempts;
  const isRepeatable = isPlanning || facts.run.retrySafe;
  if (isRepeatable && lostAttempts < max) return execute(facts, closes);
  return { ...finish('failed', isPlanning ? 'plan_interrupted' : 'apply_interrupted'), ...(closes && { closes }) };
}

/** Executes the phase of the last attempt again. An apply that starts again must pass the checks of every apply. */
function execute(facts: StepFacts, closes?: Closing): Step {
  const { phase } = requireAttempt(facts);
  const obstacle = phase === 'applying' ? findObstacle(facts) : null;
  return { ...(obstacle ?? { kind: 'execute', phase }), ...(closes && { closes }) };
}

/** A switch of the tool is a change of the instance, although its plan changes nothing. */
function decideUnchanged(facts: StepFacts): Step {
  if (facts.run.toolSwitch) return findObstacle(facts) ?? { kind: 'switch_tool' };
  return facts.run.operation === 'scan' ? decideScan(facts) : finish('succeeded');
}

function decidePlan(facts: StepFacts): Step {
  const { operation, toolSwitch } = facts.run;
  if (toolSwitch) return finish('failed', 'switch_not_empty');
  if (operation === 'scan') return decideScan(facts);
  return operation === 'plan' ? finish('succeeded') : decideApply(facts);
}

/** A scan succeeds even if it finds changes. It fails if a newer state exists, because its result does not describe that state. */
function decideScan({ planIsCurrent }: StepFacts): Step {
  return planIsCurrent ? finish('succeeded') : finish('failed', 'plan_moved');
}

function decideApply(facts: StepFacts): Step {
  if (facts.run.toolSwitch) return decideUnchanged(facts);
  return findObstacle(facts) ?? { kind: 'apply' };
}

/**
 * Ends a canceled run once nothing of it is being executed. The result of its last attempt still counts: an apply that had
 * finished has succeeded, and one whose state could not be stored has failed.
 */
function decideCancellation(facts: StepFacts): Step {
  const { run, attempt } = facts;
  const isOpen = attempt !== null && (attempt.outcome ?? null) === null;
  const waiting = isOpen ? waitForWorker(facts) : null;
  if (waiting) return waiting;
  if (attempt?.outcome === 'applied') return finish('succeeded');
  if (run.statusReason === 'state_refused') return finish('failed', 'state_refused');
  const wasLost = isOpen || attempt?.outcome === 'lost';
  const isInterrupted = attempt?.phase === 'applying' && Boolean(attempt.workerId) && wasLost;
  const ending = isInterrupted
    ? finish('failed', 'apply_interrupted')
    : finish('canceled', run.statusReason ?? 'canceled_by_user');
  return isOpen ? { ...ending, closes: { outcome: isInterrupted ? 'lost' : 'canceled', isReported: false } } : ending;
}

/** @throws Error if a running run has no attempt: a defect */
function requireAttempt({ attempt }: StepFacts): NonNullable<StepFacts['attempt']> {
  if (!attempt) throw new Error('a run has the status running and no attempt');
  return attempt;
}
