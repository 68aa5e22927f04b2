import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import type { Run } from '../entity.ts';

/** How long an attempt may exceed the executor's own limit before its worker counts as lost, even if it is alive. */
const engineMarginSeconds = 300;

/** The longest that one attempt may take, in seconds. */
export function attemptTimeoutSeconds({ timeouts }: Pick<Run, 'timeouts'>, phase: AttemptPhase): number {
  return (phase === 'planning' ? timeouts.plan : timeouts.apply) + engineMarginSeconds;
}

/**
 * The longest that one activity may take, in seconds. A worker that has made a plan also applies it in the same activity,
 * unless people must approve it first.
 */
export function activityTimeoutSeconds(run: Run, phase: AttemptPhase): number {
  const includesApply = phase === 'planning' && run.isWriter();
  return attemptTimeoutSeconds(run, phase) + (includesApply ? attemptTimeoutSeconds(run, 'applying') : 0);
}
