import { describe, expect, it } from 'vitest';
import { toAttemptResult } from '#activities/attempts/attempt-result.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { type ExecutionReason, executionReasons, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import type { ExecutionOutcome, ExecutionResult } from '#executors/protocol/request.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

/** The status and reason of a run for each result of an executor, in each phase. */
const { api, steps, readRun } = await openRunStepsApi();
const worker = await steps.worker('sandbox');

const phases: readonly AttemptPhase[] = ['planning', 'applying'];
/** The outcome that an executor reports with a reason; `failed` for all other reasons. */
const outcomes: Partial<Record<ExecutionReason, ExecutionOutcome>> = {
  canceled: 'canceled',
  time_limit: 'timed_out',
  step_timeout: 'timed_out',
  output_limit: 'limit_exceeded',
  directory_limit: 'limit_exceeded',
  process_limit: 'limit_exceeded',
  memory_limit: 'limit_exceeded',
  cpu_limit: 'limit_exceeded',
  open_files_limit: 'limit_exceeded',
};
/** Reasons of attempts that become other reasons of their run. */
const runReasons: Partial<Record<ExecutionReason, Record<AttemptPhase, string>>> = {
  canceled: { planning: 'canceled_by_user', applying: 'canceled_by_user' },
  time_limit: { planning: 'plan_timeout', applying: 'apply_timeout' },
};
const statuses: Partial<Record<ExecutionOutcome, string>> = { canceled: 'canceled', timed_out: 'timed_out' };

const begin = (phase: AttemptPhase) =>
  phase === 'planning' ? steps.planning(worker, 'sandbox') : steps.applying(worker, 'sandbox');

async function endWith(phase: AttemptPhase, result: ExecutionResult) {
  const { runId, attemptId } = await begin(phase);
  await steps.complete(attemptId, toAttemptResult({ attempt: { phase } } as AttemptWork, result));
  expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  const { status, status_reason: reason } = await readRun(runId);
  return { status, reason };
}

const reasons = Object.keys(executionReasons) as ExecutionReason[];

describe.each(phases)('a run whose attempt ends in the phase %s with the reason', (phase) => {
  it.each(reasons)('%s has a documented reason', async (reason) => {
    const outcome = outcomes[reason] ?? 'failed';
    const ended = await endWith(phase, { outcome, reason, message: 'it went wrong', exitCode: null });
    expect(ended).toEqual({ status: statuses[outcome] ?? 'failed', reason: runReasons[reason]?.[phase] ?? reason });
    expect(Object.keys(statusReasons)).toContain(ended.reason);
  });

  it('time_limit from a worker of the previous release has the timeout reason of that phase', async () => {
    const { runId, attemptId } = await begin(phase);
    await steps.complete(attemptId, { outcome: 'timed_out' });
    await api.rows(`update runs set status_reason = 'time_limit' where id = ?`, [runId]);
    await steps.next({ runId, executed: attemptId });
    expect((await readRun(runId)).status_reason).toBe(runReasons.time_limit?.[phase]);
  });
});

describe('the documented reasons of runs', () => {
  it('do not include reasons that only attempts have', () => {
    for (const reason of Object.keys(runReasons)) expect(Object.keys(statusReasons)).not.toContain(reason);
  });
});
