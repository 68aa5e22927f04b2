import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toAttemptResult } from '#activities/attempt-result.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { type AttemptPhase, type ExecutionReason, executionReasons, statusReasons } from '#domain/runs/model.ts';
import type { ExecutionOutcome, ExecutionResult } from '#executors/protocol/request.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/run-steps.ts';

/** The reason that a run shows for each result of an executor, while it plans and while it applies. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
/** A worker counts as lost 30 s after its last heartbeat, and this file may take longer. */
beforeEach(async () => {
  worker = await steps.worker('sandbox');
});
afterAll(() => api?.close());

const phases: readonly AttemptPhase[] = ['planning', 'applying'];
/** The outcomes with which an executor gives a reason; `failed` for all others. */
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
/** Reasons of attempts alone. The run names the phase instead, or says that somebody canceled it. */
const said: Partial<Record<ExecutionReason, Record<AttemptPhase, string>>> = {
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
  const { status, status_reason: reason } = (await admin.get(`/runs/${runId}`)).body;
  return { status, reason };
}

const reasons = Object.keys(executionReasons) as ExecutionReason[];

describe.each(phases)('a run whose attempt at %s gives', (phase) => {
  it.each(reasons)('%s ends with a documented reason', async (reason) => {
    const outcome = outcomes[reason] ?? 'failed';
    const ended = await endWith(phase, { outcome, reason, message: 'it went wrong', exitCode: null });
    expect(ended).toEqual({ status: statuses[outcome] ?? 'failed', reason: said[reason]?.[phase] ?? reason });
    expect(Object.keys(statusReasons)).toContain(ended.reason);
  });

  it('time_limit, from a worker of the previous release, names the phase that took too long', async () => {
    const { runId, attemptId } = await begin(phase);
    await steps.complete(attemptId, { outcome: 'timed_out' });
    await api.rows(`update runs set status_reason = 'time_limit' where id = ?`, [runId]);
    await steps.next({ runId, executed: attemptId });
    expect((await admin.get(`/runs/${runId}`)).body.status_reason).toBe(said.time_limit?.[phase]);
  });
});

describe('the reasons with which runs end', () => {
  it('do not include those of attempts alone', () => {
    for (const reason of Object.keys(said)) expect(Object.keys(statusReasons)).not.toContain(reason);
  });
});
