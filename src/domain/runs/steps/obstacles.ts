import { isHold } from '#domain/shared/vocabulary/waiting.ts';
import { hasQuorum } from '../approval/rules.ts';
import { needsApproval } from '../model.ts';
import { finish, type Step, type StepFacts } from './step.ts';

/** A changed hold wakes the run and a timer ends its wait; this is how often it looks again if both fail. */
export const holdRetrySeconds = 300;

/**
 * How often a run looks again at the approvals that it was given: nothing wakes it when a reviewer is disabled, leaves the team or
 * comes back.
 */
const approvalRetrySeconds = 300;

/** What keeps an apply from starting. */
type Obstacle = Extract<Step, { kind: 'ask_approval' | 'wait' | 'finish' }>;

/**
 * What keeps an apply of the run from starting now; null if it may start. Everything is looked at again each time an apply is
 * about to start: approvals that counted may have lapsed, and the policy may have become stricter.
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

/** A run that was made for one state of the instance changes no other. An apply that begins again may have moved the state itself. */
export function findBrokenPin({ attempt, pinHolds }: StepFacts): Extract<Step, { kind: 'finish' }> | null {
  if (pinHolds || attempt?.phase === 'applying') return null;
  return finish('failed', 'stale');
}

function findMissingApproval(facts: StepFacts): Obstacle | null {
  const { run, policy, approvals, now } = facts;
  const destroys = run.operation === 'destroy' || (run.planSummary?.destroy ?? 0) > 0;
  if (!needsApproval(policy, { changes: true, destroys }) || hasQuorum(policy.required, approvals)) return null;
  // A run that was held, or waited for a place or a slot, had its approvals, and some have lapsed meanwhile: it gets the whole time for approval again.
  const code = run.waitingOn?.code;
  const wasReady = code !== undefined && (isHold(code) || code === 'quota' || code === 'pool_share');
  const isOpen = run.status === 'pending_approval' && !wasReady;
  if (!isOpen) return { kind: 'ask_approval', seconds: run.timeouts.approval };
  const remainingMs = (run.approvalExpiresAt?.getTime() ?? 0) - now.getTime();
  if (remainingMs <= 0) return finish('timed_out', 'approval_timeout');
  const seconds = approvalWaitSeconds(facts, Math.ceil(remainingMs / 1000));
  return { kind: 'wait', seconds, waitingOn: { code: 'approval' } };
}

/** How long a run that misses approvals waits until it looks again, if the time for approval lasts this long. */
export function approvalWaitSeconds({ approvals, lapses }: StepFacts, remaining: number): number {
  return approvals + lapses === 0 ? remaining : Math.min(remaining, approvalRetrySeconds);
}

/** An apply that begins needs a plan of the latest state. One that begins again may have written a state itself. */
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

/** A run that ends, or a quota that is raised, wakes the first run that waits for a place; this is how often one looks again if both fail. */
const placeRetrySeconds = 300;

/** Runs that execute at once are limited: without a place, a run neither begins nor goes on after it has waited for people. */
export function findFullQuota({ noPlace }: StepFacts): Extract<Step, { kind: 'wait' }> | null {
  return noPlace && { kind: 'wait', seconds: placeRetrySeconds, waitingOn: { code: 'quota', ...noPlace } };
}
