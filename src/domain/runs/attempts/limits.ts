import type { Run } from '../entity.ts';
import type { AttemptPhase } from '../model.ts';

/** How long the engine waits beyond the executor's own limit before a worker counts as lost in any case. */
const engineMarginSeconds = 300;

/** How long one attempt may take at most, in seconds. */
export function executionSeconds({ timeouts }: Pick<Run, 'timeouts'>, phase: AttemptPhase): number {
  return (phase === 'planning' ? timeouts.plan : timeouts.apply) + engineMarginSeconds;
}

/** How long the engine waits for one activity: the worker that made a plan also applies it, where nobody has to decide. */
export function engagementSeconds(run: Run, phase: AttemptPhase): number {
  const includesApply = phase === 'planning' && run.isWriter();
  return executionSeconds(run, phase) + (includesApply ? executionSeconds(run, 'applying') : 0);
}
