import { describe, expect, it } from 'vitest';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { type Continuation, continueRun } from '#domain/runs/attempts/continue.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { StatementFaults } from '#test/support/database/statement-faults.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun } = await openRunStepsApi();

const planned: AttemptResult = { outcome: 'planned', reason: null, tool: null, plan: aPlan() };

/** A run that a worker is planning. */
async function planning(request: object = {}, spec: object = {}): Promise<{ workerId: string; work: AttemptWork }> {
  const workerId = await steps.worker('none');
  const runId = await steps.admit(request, spec);
  const work = await steps.claim(executing(await steps.next({ runId })), workerId, 'none');
  if (!work) throw new Error('the worker did not get the plan');
  return { workerId, work };
}

function store({ workerId, work }: { workerId: string; work: AttemptWork }): Promise<Continuation> {
  const { transactions, keyRing } = api.services;
  const claimant = { workerId, isolation: 'none' as const, issuer: null, tools: [] };
  return transactions.run((tx) => continueRun(tx, keyRing, { work, result: planned, claimant }));
}

const runOf = ({ run }: AttemptWork) => readRun(run.id);

describe('a worker that stores a plan which is applied at once', () => {
  it('gets the apply with the same transaction, and nobody else can claim it', async () => {
    const plan = await planning();
    const { step, work } = await store(plan);
    expect(step).toMatchObject({ kind: 'execute', attemptId: work?.attempt.id });
    expect(work).toMatchObject({ attempt: { phase: 'applying' }, artifact: planned.plan?.artifact });
    expect(await runOf(plan.work)).toMatchObject({ status: 'running', phase: 'applying', waiting_on: null });
    const attemptId = work?.attempt.id ?? '';
    expect(await steps.claim(attemptId, await steps.worker('none'), 'none')).toBeNull();
    await steps.complete(attemptId, { outcome: 'applied' });
    expect(await steps.next({ runId: plan.work.run.id, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await runOf(plan.work)).toMatchObject({ status: 'succeeded' });
  });

  it('gets none if the run needs approval', async () => {
    const plan = await planning({}, { approval: { required: 1, when: 'always' } });
    expect(await store(plan)).toMatchObject({ step: { kind: 'wait' }, work: null });
    expect(await runOf(plan.work)).toMatchObject({ status: 'pending_approval' });
  });

  it('gets none while applies are paused, and the run waits for their end', async () => {
    const plan = await planning();
    await admin.put('/admin/apply-pause', { reason: 'a test' });
    expect(await store(plan)).toMatchObject({ step: { kind: 'wait' }, work: null });
    expect(await runOf(plan.work)).toMatchObject({ waiting_on: { code: 'paused' } });
    await admin.delete('/admin/apply-pause');
  });

  it('gets none if the run is being canceled', async () => {
    const plan = await planning();
    await admin.post(`/runs/${plan.work.run.id}/cancel`);
    expect(await store(plan)).toEqual({ step: { kind: 'end' }, work: null });
  });

  it('gets the apply once more if it did not learn that the commit had arrived', async () => {
    const faults = await StatementFaults.open(api.services.orm);
    try {
      const unharmed = await planning();
      const { statements } = await faults.during(null, () => store(unharmed));
      const plan = await planning();
      const struck = await faults.during({ kind: 'cut after', at: statements.lastIndexOf('commit') }, () =>
        store(plan).then(
          () => 'stored',
          (error: Error) => error.message,
        ),
      );
      expect(struck).toMatchObject({ hasStruck: true, result: expect.stringContaining('outcome is unknown') });
      const again = await store(plan);
      expect(again).toMatchObject({ step: null, work: { attempt: { phase: 'applying', workerId: plan.workerId } } });
      expect(await store(plan)).toMatchObject({ work: { attempt: { id: again.work?.attempt.id } } });
    } finally {
      faults.remove();
    }
  });

  it('gets nothing for a plan whose attempt another one has replaced', async () => {
    const plan = await planning();
    await steps.abandon(plan.work.attempt.id, plan.workerId, 'lost');
    executing(await steps.next({ runId: plan.work.run.id, executed: plan.work.attempt.id }));
    await expect(store(plan)).rejects.toThrow(AttemptSuperseded);
  });
});
