import type { AttemptWork } from '#domain/runs/attempts/complete.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import type { AttemptOutcome } from '#domain/runs/model.ts';
import type { ExecutionOutcome, ExecutionResult } from '#executors/protocol/request.ts';

const outcomes: Record<Exclude<ExecutionOutcome, 'succeeded'>, Exclude<AttemptOutcome, 'lost'>> = {
  failed: 'failed',
  canceled: 'canceled',
  timed_out: 'timed_out',
  limit_exceeded: 'failed',
};

/** What an execution means for its attempt. */
export function toAttemptResult(work: AttemptWork, result: ExecutionResult): AttemptResult {
  const { tool = null, reason, plan, outputs, resourceCount } = result;
  const common = { reason: toStatusReason(reason), tool };
  if (result.outcome !== 'succeeded') return { ...common, outcome: outcomes[result.outcome] };
  if (work.attempt.phase === 'applying') {
    return {
      ...common,
      outcome: 'applied',
      ...(outputs && { outputs }),
      ...(resourceCount !== undefined && { resourceCount }),
    };
  }
  return {
    ...common,
    outcome: plan?.hasChanges ? 'planned' : 'unchanged',
    ...(plan && { plan: { ...plan, executorDigest: plan.digest } }),
    ...(outputs && { outputs }),
  };
}

/** Null: the run says by itself that somebody canceled it, or which of its phases took too long. */
function toStatusReason(reason: ExecutionResult['reason']): AttemptResult['reason'] {
  return reason === 'canceled' || reason === 'time_limit' ? null : reason;
}

/** The same for an attempt that was cut off because its worker stops: a plan is handed back, an apply was interrupted. */
export function toInterruptedResult(work: AttemptWork, result: ExecutionResult): AttemptResult {
  if (result.outcome !== 'canceled') return toAttemptResult(work, result);
  const { tool = null } = result;
  if (work.attempt.phase === 'planning') return { outcome: 'handed_back', reason: null, tool: null };
  return { outcome: 'failed', reason: 'apply_interrupted', tool };
}
