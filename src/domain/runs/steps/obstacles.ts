import { isHold } from '#domain/shared/vocabulary/waiting.ts';
import { hasQuorum } from '../approval/rules.ts';
import { needsApproval } from '../model.ts';
import { finish, type Step, type StepFacts } from './step.ts';

/**
 * How often a run that waits for the end of a hold checks the hold. Normally a change of the hold or a timer wakes it, so this is the
 * fallback.
 */
export const holdRetrySeconds = 300;

/** How often a run checks its approvals: nothing wakes it when a reviewer is disabled, leaves the team or returns. */
const approvalRetrySeconds = 300;

/** What keeps an apply from starting. */
type Obstacle = Extract<Step, { kind: 'ask_approval' | 'wait' | 'finish' }>;

/**
 * What keeps an apply of the run from starting now; null if it may start. Everything is checked again each time an apply is about to start:
 * approvals that counted may have lapsed, and the policy may have become stricter.
 */
export function findObstacle(facts: StepFacts): Obstacle | null {
  return (
    findBrokenPin(facts) ??
    findMissingApproval(facts) ??
    findMovedPlan(facts) ??
    findHoldObstacle(facts) ??
    findFullQuota(facts)
  );
}

/**
 * Ends a run that was requested for one state of its instance if the state is another one now. A repeated apply is exempt, because it may
 * have changed the state itself.
 */
export function findBrokenPin({ attempt, isPinCurrent }: StepFacts): Extract<Step, { kind: 'finish' }> | null {
  if (isPinCurrent || attempt?.phase === 'applying') return null;
  return finish('failed', 'stale');
}

function findMissingApproval(facts: StepFacts): Obstacle | null {
  const { run, policy, approvals, now } = facts;
  const destroys = run.operation === 'destroy' || (run.planSummary?.destroy ?? 0) > 0;
  if (!needsApproval(policy, { changes: true, destroys }) || hasQuorum(policy.required, approvals)) return null;
  // A run that waited for a hold, a quota or a share had all its approvals before. If some have lapsed since, it gets the whole time for
  // approval again.
  const code = run.waitingOn?.code;
  const wasReady = code !== undefined && (isHold(code) || code === 'quota' || code === 'pool_share');
  const isOpen = run.status === 'pending_approval' && !wasReady;
  if (!isOpen) return { kind: 'ask_approval', seconds: run.timeouts.approval };
  const remainingMs = (run.approvalExpiresAt?.getTime() ?? 0) - now.getTime();
  if (remainingMs <= 0) return finish('timed_out', 'approval_timeout');
  const seconds = approvalWaitSeconds(facts, Math.ceil(remainingMs / 1000));
  return { kind: 'wait', seconds, waitingOn: { code: 'approval' } };
}

/**
 * How many seconds a run without enough approvals waits before it checks again. `remaining`: the seconds until the time for approval ends.
 */
export function approvalWaitSeconds({ approvals, lapses }: StepFacts, remaining: number): number {
  return approvals + lapses === 0 ? remaining : Math.min(remaining, approvalRetrySeconds);
}

/** An apply needs a plan of the latest state. A repeated apply is exempt, because it may have written a state itself. */
function findMovedPlan({ attempt, planIsCurrent }: StepFacts): Obstacle | null {
  if (planIsCurrent || attempt?.phase === 'applying') return null;
  return finish('failed', 'plan_moved');
}

function findHoldObstacle({ hold, now }: StepFacts): Obstacle | null {
  if (!hold) return null;
  const { until } = hold.blocker;
  const remaining = until === null ? holdRetrySeconds : Math.ceil((Date.parse(until) - now.getTime()) / 1000);
  return { kind: 'wait', seconds: Math.min(Math.max(remaining, 1), holdRetrySeconds), waitingOn: hold };
}

/**
 * How often a run that waits for a quota checks it. Normally the end of another run or a raised quota wakes it, so this is the fallback.
 */
const slotRetrySeconds = 300;

/** Quotas limit how many runs execute at once: without a slot, a run neither begins nor continues after it has waited for people. */
export function findFullQuota({ fullQuota }: StepFacts): Extract<Step, { kind: 'wait' }> | null {
  return fullQuota && { kind: 'wait', seconds: slotRetrySeconds, waitingOn: { code: 'quota', ...fullQuota } };
}
