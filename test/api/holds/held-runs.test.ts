import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addEnvironment } from '#test/support/access/people.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';

/** Runs of the whole service that wait for the end of a lock or a pause. */
let at: RunStage;
beforeAll(async () => {
  at = await startRunStage();
});
afterAll(() => at?.close());

async function lockedRun(until?: string) {
  const { environmentId } = await addEnvironment(at.orm, at.team.teamId);
  const lock = await at.requester.caller.send('PUT', `/environments/${environmentId}/lock`, {
    reason: 'incident',
    until,
  });
  expect(lock.status, lock.text).toBe(200);
  const { id } = await at.admit({ environment_id: environmentId });
  await expect.poll(async () => (await at.read(id)).waiting_on?.code).toBe('locked');
  return { id, environmentId };
}

describe('a run that waits because its environment is locked', () => {
  it('applies as soon as somebody unlocks the environment', async () => {
    const { id, environmentId } = await lockedRun();
    expect((await at.read(id)).waiting_on.blocker).toMatchObject({ reason: 'incident', by: { id: at.requester.id } });
    await at.requester.caller.send('DELETE', `/environments/${environmentId}/lock`);
    expect(await at.awaitEnd(id)).toMatchObject({ status: 'succeeded' });
    expect(await at.readEventTypes(id)).toContain('run.held');
  });

  it('applies after the lock has expired, although no worker ran at that time', async () => {
    const until = Date.now() + 15_000;
    const { id } = await lockedRun(new Date(until).toISOString());
    await at.system.stopWorker();
    // The engine's timer of the run goes by real time.
    await sleep(until + 500 - Date.now());
    await at.system.startWorker();
    expect(await at.awaitEnd(id)).toMatchObject({ status: 'succeeded' });
  });

  it('can be canceled', async () => {
    const { id } = await lockedRun();
    await at.requester.caller.post(`/runs/${id}/cancel`);
    expect(await at.awaitEnd(id)).toMatchObject({ status: 'canceled' });
  });
});

describe('a pause of all applies', () => {
  it('blocks the approved run, which applies once an administrator ends the pause', async () => {
    const { administrator } = at.system;
    const run = await at.admitPending({ required: 1 });
    await administrator.send('PUT', '/admin/apply-pause', { reason: 'maintenance' });
    expect((await at.review(at.reviewers[0]!.caller, run)).status).toBe(200);
    await expect.poll(async () => (await at.read(run.id)).waiting_on?.code).toBe('paused');
    expect(await at.readEventTypes(run.id)).not.toContain('run.applying');
    await administrator.send('DELETE', '/admin/apply-pause');
    expect(await at.awaitEnd(run.id)).toMatchObject({ status: 'succeeded' });
  });
});
