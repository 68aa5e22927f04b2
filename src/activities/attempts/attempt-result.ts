import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import type { AttemptOutcome } from '#domain/shared/vocabulary/runs.ts';
import type { ExecutionOutcome, ExecutionResult } from '#executors/protocol/request.ts';

const outcomes: Record<Exclude<ExecutionOutcome, 'succeeded'>, Exclude<AttemptOutcome, 'lost'>> = {
  failed: 'failed',
  canceled: 'canceled',
  timed_out: 'timed_out',
  limit_exceeded: 'failed',
};

/** Converts the executor's result into that of the attempt. */
export function toAttemptResult(work: AttemptWork, result: ExecutionResult): AttemptResult {
  const { tool = null, reason, plan, outputs, resourceCount, diagnostics = [], message, debugLog, modules } = result;
  const common = { reason: toStatusReason(reason), tool, diagnostics, message, debugLog };
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
    ...(modules && { modules: { ...modules, isPlain: isPlain(work) } }),
    ...(outputs && { outputs }),
  };
}

/** Whether no variable of the run could have changed which modules the tool fetched. */
function isPlain({ inputs, connections }: AttemptWork): boolean {
  return inputs.environment.length + connections.variables.length + connections.files.length === 0;
}

/** Null if the run itself already says why: it was canceled, or one of its phases timed out. */
function toStatusReason(reason: ExecutionResult['reason']): AttemptResult['reason'] {
  return reason === 'canceled' || reason === 'time_limit' ? null : reason;
}

/** Like `toAttemptResult`, for an attempt that its stopping worker cut off: a plan is handed back, and an apply was interrupted. */
export function toInterruptedResult(work: AttemptWork, result: ExecutionResult): AttemptResult {
  if (result.outcome !== 'canceled') return toAttemptResult(work, result);
  const { tool = null } = result;
  if (work.attempt.phase === 'planning') return { outcome: 'handed_back', reason: null, tool: null };
  return { outcome: 'failed', reason: 'apply_interrupted', tool };
}
