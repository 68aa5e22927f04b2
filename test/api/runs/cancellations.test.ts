import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';

let at: RunStage;
beforeAll(async () => {
  at = await startRunStage();
});
afterAll(() => at?.close());

describe('a cancellation', () => {
  it.each(['planning', 'applying'])(
    'a cancellation while %s stops the work and ends the run once the worker reports it',
    async (phase) => {
      const gate = at.newGate();
      const instance = `i-${randomUUID()}`;
      const run = await at.admit({ instance, variables: phase === 'planning' ? { plan_gate: gate } : { gate } });
      await expect.poll(() => at.read(run.id)).toMatchObject({ status: 'running', phase });
      await expect.poll(() => isClaimed(run.id)).toBe(true);
      const canceled = await at.requester.caller.post(`/runs/${run.id}/cancel`, { reason: 'wrong region' });
      expect(canceled.status).toBe(202);
      expect(canceled.body.status).toMatch(/^cancell?(ing|ed)$/);
      const end = await at.awaitEnd(run.id);
      expect(end).toMatchObject({
        status: 'canceled',
        status_reason: 'canceled_by_user',
        cancel_reason: 'wrong region',
      });
      expect(end.finished_at).not.toBeNull();
      at.openGate(gate);
      expect((await at.awaitEnd((await at.admit({ instance })).id)).status).toBe('succeeded');
      expect((await at.read(run.id)).revision).toBe(end.revision);
    },
  );

  it('a cancellation of a run that waits for approval ends it and frees the instance', async () => {
    const run = await at.admitPending({ required: 1 });
    await at.requester.caller.post(`/runs/${run.id}/cancel`);
    expect(await at.awaitEnd(run.id)).toMatchObject({ status: 'canceled', status_reason: 'canceled_by_user' });
    expect(await at.execute('select 1 from instance_slots where run_id = ?', run.id)).toEqual([]);
    expect((await at.review(at.reviewers[0]!.caller, run)).status).toBe(409);
  });

  it('that is repeated changes nothing, unless it is by force', async () => {
    await at.system.stopWorker();
    try {
      const run = await at.admit();
      for (let index = 0; index < 3; index += 1) {
        const answer = await at.requester.caller.post(`/runs/${run.id}/cancel`, {});
        expect([answer.status, answer.body.status]).toEqual([202, 'canceling']);
      }
      expect((await at.readEventTypes(run.id)).filter((type) => type === 'run.cancel_requested')).toHaveLength(1);
      const forced = await at.requester.caller.post(`/runs/${run.id}/cancel`, { force: true });
      expect(forced.body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
      expect((await at.requester.caller.post(`/runs/${run.id}/cancel`, { force: true })).status).toBe(409);
    } finally {
      await at.system.startWorker();
    }
  });

  it.each(['succeeded', 'failed', 'canceled'])('a cancellation of a run that has %s answers 409', async (status) => {
    const run = await at.endAs(status);
    for (const body of [{}, { force: true }]) {
      const answer = await at.requester.caller.post(`/runs/${run.id}/cancel`, body);
      expect([answer.status, answer.body.error]).toEqual([
        409,
        `the run has already ended (${status}): there is nothing to cancel`,
      ]);
    }
    expect((await at.read(run.id)).revision).toBe(run.revision);
  });

  async function isClaimed(runId: string): Promise<boolean> {
    const rows = await at.execute(
      'select 1 from run_attempts a join runs r on r.attempt_id = a.id where r.id = ? and a.worker_id is not null',
      runId,
    );
    return rows.length > 0;
  }
});

describe('after the tests of cancellations', () => {
  it('no run has a gap in its events, no instance is locked, and no message to the engine is left', async () => {
    await at.expectAllSettled();
  });
});
