import {
  type AttemptPhase,
  type RunOperation,
  type RunTimeouts,
  writingOperations,
} from '#domain/shared/vocabulary/runs.ts';

/** A run, as far as its time limits depend on it. */
interface TimedRun {
  readonly operation: RunOperation;
  readonly timeouts: RunTimeouts;
}

/** How long an attempt may exceed the executor's own limit before its worker counts as lost, even if it is alive. */
const engineMarginSeconds = 300;

/** The longest that one attempt may take, in seconds. */
export function attemptTimeoutSeconds({ timeouts }: Pick<TimedRun, 'timeouts'>, phase: AttemptPhase): number {
  return (phase === 'planning' ? timeouts.plan : timeouts.apply) + engineMarginSeconds;
}

/**
 * The longest that one activity may take, in seconds. A worker that has made a plan also applies it in the same activity,
 * unless people must approve it first.
 */
export function activityTimeoutSeconds(run: TimedRun, phase: AttemptPhase): number {
  const includesApply = phase === 'planning' && writingOperations.includes(run.operation);
  return attemptTimeoutSeconds(run, phase) + (includesApply ? attemptTimeoutSeconds(run, 'applying') : 0);
}
