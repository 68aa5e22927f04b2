import type { WorkerLiveness } from '#domain/workers/model.ts';
import { hasQuorum } from '../approval/rules.ts';
import { attemptTimeoutSeconds } from '../attempts/limits.ts';
import type { Run, RunAttempt } from '../entity.ts';
import {
  type AttemptPhase,
  isTerminal,
  needsApproval,
  type StatusReason,
  type TerminalStatus,
  type WaitingOn,
} from '../model.ts';

/** How many times planning is tried when its workers are lost. */
const maximumPlanAttempts = 3;
/** An apply is tried once, unless its template declares that repeating it is safe. */
const maximumSafeApplyAttempts = 3;
/** The run that holds the slot wakes the next one; looking again after this time is the fallback. */
const busyRetrySeconds = 300;
/** How long to wait before looking for workers of the pool again. */
export const noWorkerRetrySeconds = 5;
/** How long to wait for a heartbeat in the database from a worker that the engine considers lost: more than one interval. */
const lookAgainSeconds = 6;

/** Everything that the next step of a run depends on. */
export interface StepFacts {
  readonly run: Pick<Run, 'status' | 'operation' | 'timeouts' | 'retrySafe' | 'approvalRequired' | 'approvalWhen'> &
    Partial<Pick<Run, 'statusReason' | 'planSummary' | 'approvalExpiresAt'>>;
  /** The current attempt of the run. */
  readonly attempt:
    | (Pick<RunAttempt, 'id' | 'phase' | 'startedAt'> & Partial<Pick<RunAttempt, 'outcome' | 'workerId'>>)
    | null;
  /** Whether the worker of the attempt is alive; null if the attempt is not open, or if no worker has claimed it. */
  readonly workerLiveness: WorkerLiveness | null;
  /** How many attempts at the phase of the current one were lost. */
  readonly lostAttempts: number;
  /** How many people have approved the plan. */
  readonly approvals: number;
  /** Whether the plan was made from the latest state of the instance. */
  readonly planIsCurrent: boolean;
  /** Whether the run's team and environment may use its pool. */
  readonly poolIsOpen: boolean;
  /** The run that holds the slot of the instance or comes before this one; null if this one may acquire the slot. */
  readonly blocker: { readonly id: string; readonly position: number } | null;
  /** Whether a live worker may execute the run. */
  readonly hasWorker: boolean;
  /** The last attempt whose activity has ended. */
  readonly executed: string | null;
  /** Whether the workflow itself was canceled. */
  readonly canceled: boolean;
  /** Whether the last step was to wait for a worker with an expired heartbeat. */
  readonly suspected: boolean;
  readonly now: Date;
}

/** How a step ends the open attempt, and whether the events of the run report the loss. */
export interface Closing {
  readonly outcome: 'lost' | 'handed_back' | 'canceled';
  readonly isReported: boolean;
}

/** The next step of a run. */
export type Step =
  /** The run has ended. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'finish';
      readonly status: TerminalStatus;
      readonly reason: StatusReason | null;
      readonly closes?: Closing;
    }
  | {
      readonly kind: 'wait';
      readonly seconds: number;
      readonly suspects?: true;
      readonly waitingOn?: Pick<WaitingOn, 'code'> & Partial<Pick<WaitingOn, 'position' | 'blocker'>>;
    }
  /** The run acquires its slot, and planning begins. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'ask_approval'; readonly seconds: number }
  | { readonly kind: 'apply' }
  /** A new attempt at a phase. */
  | { readonly kind: 'execute'; readonly phase: AttemptPhase; readonly closes?: Closing }
  /** The open attempt is handed to a worker. */
  | { readonly kind: 'resume' };

/** Decides the next step of a run. Pure: `takeNextStep` reads the facts and carries out the step, while the run is locked. */
export function decideNextStep(facts: StepFacts): Step {
  const { status } = facts.run;
  if (isTerminal(status)) return { kind: 'nothing' };
  if (facts.canceled || status === 'canceling') return decideCancellation(facts);
  if (status === 'queued') return decideBegin(facts);
  return status === 'running' ? decideRunning(facts) : decideApproval(facts);
}

function decideBegin({ poolIsOpen, blocker, hasWorker }: StepFacts): Step {
  if (!poolIsOpen) return finish('failed', 'pool_closed');
  if (blocker) {
    const waitingOn = { code: 'instance_busy', position: blocker.position, blocker: blocker.id } as const;
    return { kind: 'wait', seconds: busyRetrySeconds, waitingOn };
  }
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
    case 'applied':
      return finish('succeeded');
    case 'handed_back':
      return { kind: 'execute', phase: attempt.phase };
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
 * The engine loses every heartbeat while it is down itself, and an apply that goes on must not count as interrupted because of
 * that. The database knows which workers are alive, and a worker ends its attempts even when it fails, so a worker that is
 * alive is still executing. A silent worker gets a second chance: the database may have been down as well.
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
  const { workerId, phase } = requireAttempt(facts);
  if (!workerId) return { kind: 'execute', phase, closes: { outcome: 'handed_back', isReported: false } };
  return { ...decideRetry(facts, facts.lostAttempts + 1), closes: { outcome: 'lost', isReported: true } };
}

/** Planning is tried again; an apply is not, unless its template declares that as safe. */
function decideRetry(facts: StepFacts, lostAttempts: number): Extract<Step, { kind: 'execute' | 'finish' }> {
  const { phase } = requireAttempt(facts);
  const isPlanning = phase === 'planning';
  const maximum = isPlanning ? maximumPlanAttempts : maximumSafeApplyAttempts;
  const isRepeatable = isPlanning || facts.run.retrySafe;
  if (isRepeatable && lostAttempts < maximum) return { kind: 'execute', phase };
  return finish('failed', isPlanning ? 'plan_interrupted' : 'apply_interrupted');
}

function decidePlan(facts: StepFacts): Step {
  const { operation, approvalRequired, approvalWhen, planSummary, timeouts } = facts.run;
  if (operation === 'plan') return finish('succeeded');
  const destroys = operation === 'destroy' || (planSummary?.destroy ?? 0) > 0;
  const policy = { required: approvalRequired, when: approvalWhen };
  if (!needsApproval(policy, { changes: true, destroys })) return decideApply(facts);
  return { kind: 'ask_approval', seconds: timeouts.approval };
}

/** Approvals are counted again before anything is applied. */
function decideApproval(facts: StepFacts): Step {
  const { approvalRequired, approvalExpiresAt } = facts.run;
  if (hasQuorum(approvalRequired, facts.approvals)) return decideApply(facts);
  const remainingMs = (approvalExpiresAt?.getTime() ?? 0) - facts.now.getTime();
  if (remainingMs <= 0) return finish('timed_out', 'approval_timeout');
  return { kind: 'wait', seconds: Math.ceil(remainingMs / 1000) };
}

function decideApply({ planIsCurrent }: StepFacts): Step {
  return planIsCurrent ? { kind: 'apply' } : finish('failed', 'plan_moved');
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

function finish(status: TerminalStatus, reason: StatusReason | null = null): Extract<Step, { kind: 'finish' }> {
  return { kind: 'finish', status, reason };
}

/** @throws Error if a running run has no attempt: a defect */
function requireAttempt({ attempt }: StepFacts): NonNullable<StepFacts['attempt']> {
  if (!attempt) throw new Error('a running run has no attempt');
  return attempt;
}
