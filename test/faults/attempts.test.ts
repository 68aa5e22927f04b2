import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { claimAttempt } from '#domain/runs/attempts/claim.ts';
import { concludeAttempt } from '#domain/runs/attempts/complete.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { deregisterWorker, recordHeartbeat } from '#domain/workers/store.ts';
import { aPlan, executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

/** Leads runs step by step, so that a test can lose the engine's or the worker's part at any point. */
const { api, admin, steps, readRun, readEvents } = await openRunStepsApi();
const eventsOf = async (id: string) => (await readEvents(id)).map(({ type }) => type);

async function expireHeartbeat(workerId: string): Promise<void> {
  await api.rows(`update workers set heartbeat_at = now() - interval '5 minutes' where id = ?`, [workerId]);
}

describe('an attempt whose activity has timed out', () => {
  it('is waited for while its worker sends heartbeats, and its result counts', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 6 });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 6 });
    await steps.complete(attemptId, { outcome: 'applied' });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded' });
  });

  it('is lost when its worker has no heartbeat at two consecutive checks, but not at a single one', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    await expireHeartbeat(workerId);
    expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait', suspects: true });
    await recordHeartbeat(api.services.orm.em.fork(), { id: workerId, draining: false, tools: [] });
    expect(await steps.next({ runId, executed: attemptId, suspected: true })).toEqual({ kind: 'wait', seconds: 6 });
    await expireHeartbeat(workerId);
    expect(await steps.next({ runId, executed: attemptId, suspected: true })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
    expect(await eventsOf(runId)).toContain('run.attempt_lost');
  });

  it('is lost at once if its worker has deregistered', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
  });

  it('is lost when it exceeds its time limit, even if its worker sends heartbeats', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    await api.rows(`update run_attempts set started_at = now() - interval '3 hours' where id = ?`, [attemptId]);
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  });

  it('is executed again if no worker had claimed it, even if it is an apply', async () => {
    const workerId = await steps.worker('none');
    const runId = await steps.admit();
    const planning = executing(await steps.next({ runId }));
    await steps.claim(planning, workerId, 'none');
    await steps.complete(planning, { outcome: 'planned', plan: aPlan() });
    const first = executing(await steps.next({ runId, executed: planning }));
    const second = executing(await steps.next({ runId, executed: first }));
    expect(second).not.toBe(first);
    expect(await steps.claim(first, workerId, 'none')).toBeNull();
    expect(await steps.claim(second, workerId, 'none')).not.toBeNull();
    expect(await eventsOf(runId)).not.toContain('run.attempt_lost');
  });

  it('delays the end of a canceled run while its worker is still working on it', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    await admin.post(`/runs/${runId}/cancel`);
    const asked = { runId, executed: attemptId, canceled: true };
    expect(await steps.next(asked)).toEqual({ kind: 'wait', seconds: 6 });
    await steps.complete(attemptId, { outcome: 'canceled' });
    expect(await steps.next(asked)).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'canceled', status_reason: 'canceled_by_user' });
  });
});

describe('a result that is stored together with the next step', () => {
  const planned = () => ({ outcome: 'planned', reason: null, tool: null, plan: aPlan() }) as const;
  const conclude = (attemptId: string, result: Parameters<typeof concludeAttempt>[3]) =>
    api.services.transactions.run((tx) => concludeAttempt(tx, api.services.keyRing, attemptId, result));
  /** A run that a worker is planning. */
  async function planning(spec: object = {}) {
    const workerId = await steps.worker('none');
    const runId = await steps.admit({}, spec);
    const attemptId = executing(await steps.next({ runId }));
    await steps.claim(attemptId, workerId, 'none');
    return { workerId, runId, attemptId };
  }

  it('creates the following apply, which the workflow gets as its next step and only one worker can claim', async () => {
    const { workerId, runId, attemptId } = await planning();
    const following = executing(await conclude(attemptId, planned()));
    expect(executing(await steps.next({ runId, executed: attemptId }))).toBe(following);
    expect(await steps.claim(following, workerId, 'none')).not.toBeNull();
    expect(await steps.claim(following, await steps.worker('none'), 'none')).toBeNull();
    expect(await steps.next({ runId, executed: following })).toMatchObject({ kind: 'wait' });
    expect(await conclude(following, { outcome: 'applied', reason: null, tool: null })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  });

  it('creates no apply if the run needs approval or is being canceled', async () => {
    const waiting = await planning({ approval: { required: 1, when: 'always' } });
    expect(await conclude(waiting.attemptId, planned())).toMatchObject({ kind: 'wait' });
    expect(await readRun(waiting.runId)).toMatchObject({ status: 'pending_approval' });
    const canceling = await planning();
    await admin.post(`/runs/${canceling.runId}/cancel`);
    expect(await conclude(canceling.attemptId, planned())).toEqual({ kind: 'end' });
    expect(await readRun(canceling.runId)).toMatchObject({ status: 'canceled' });
  });

  it('is refused when it is repeated, since the attempt has ended', async () => {
    const { attemptId } = await planning();
    await conclude(attemptId, planned());
    await expect(conclude(attemptId, planned())).rejects.toThrow(AttemptSuperseded);
  });
});

describe('a worker that abandons an attempt', () => {
  it('ends the apply as if the worker had been lost', async () => {
    const workerId = await steps.worker('none');
    const { runId, attemptId } = await steps.applying(workerId, 'none');
    await steps.abandon(attemptId, await steps.worker('none'), 'lost');
    expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
    await steps.abandon(attemptId, workerId, 'lost');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
  });

  it('has the plan repeated until the third attempt fails', async () => {
    const workerId = await steps.worker('none');
    const runId = await steps.admit();
    let attemptId = executing(await steps.next({ runId }));
    for (let tries = 1; tries < 3; tries += 1) {
      await steps.claim(attemptId, workerId, 'none');
      await steps.abandon(attemptId, workerId, 'lost');
      attemptId = executing(await steps.next({ runId, executed: attemptId }));
    }
    await steps.claim(attemptId, workerId, 'none');
    await steps.abandon(attemptId, workerId, 'lost');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'plan_interrupted' });
  });

  it('an attempt whose inputs cannot be decrypted stays unclaimed, and its run fails with a reason', async () => {
    const workerId = await steps.worker('none');
    const runId = await steps.admit();
    const attemptId = executing(await steps.next({ runId }));
    const stranger = new KeyRing([{ id: 'other', key: createHash('sha256').update('other').digest() }]);
    await expect(
      claimAttempt(api.services.orm.em.fork(), stranger, attemptId, {
        workerId,
        isolation: 'none',
        tools: [],
        issuer: null,
      }),
    ).rejects.toThrow();
    expect(await api.rows(`select worker_id from run_attempts where id = ?`, [attemptId])).toEqual([
      { worker_id: null },
    ]);
    await steps.abandon(attemptId, workerId, 'failed');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'executor_failed' });
  });
});
