import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProcesses } from '#test/executors/support.ts';
import { type RunStage, startRunStage } from '#test/support/runs/run-stage.ts';
import { ended, type System } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

let at: RunStage;
let system: System;
beforeAll(async () => {
  at = await startRunStage({ WORKER_DRAIN_SECONDS: '0' });
  system = at.system;
});
afterAll(() => at?.close());

describe('a worker', () => {
  it('is listed with its pools and its tools', async () => {
    const { body } = await system.administrator.get('/workers');
    expect(body.workers[0]).toMatchObject({ pools: ['default'], status: 'active', executing: 0 });
    expect(body.workers[0].tools.map((tool: { name: string }) => tool.name)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(opentofu|terraform)$/)]),
    );
  });

  it('a worker that stops during a plan returns it, and another worker makes the plan', async () => {
    const { administrator } = system;
    const gate = at.newGate();
    const { id } = await at.admit({ variables: { plan_gate: gate } });
    await administrator.awaitLog(id, 'step plan');
    await system.stopWorker();
    expect((await at.read(id)).status).toBe('running');
    at.openGate(gate);
    await system.startWorker();
    expect(await at.awaitEnd(id)).toMatchObject({ status: 'succeeded' });
    expect(await at.readEventTypes(id)).not.toContain('run.attempt_lost');
  });

  it('a worker that stops during an apply ends the apply, which is never repeated', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'cut-off', commands({ act: 'echo begun; sleep 600' }));
    const { body } = await administrator.post('/runs', { template_id: id });
    await administrator.awaitLog(body.id, 'begun');
    await system.stopWorker();
    await system.startWorker();
    const run = await administrator.awaitRun(body.id, ended);
    const detail = { message: expect.stringContaining('the worker was lost while applying'), source: 'service' };
    expect(run).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted', status_detail: detail });
    const log = await administrator.get(`/runs/${body.id}/logs`, { accept: 'text/plain' });
    expect(log.text.match(/begun/g)).toHaveLength(1);
  });

  it('a worker that an operator drains finishes its attempts and takes no new one', async () => {
    const { administrator } = system;
    const heartbeat = async () => (await administrator.get('/workers')).body.workers[0].heartbeat_at;
    const { body: listed } = await administrator.get('/workers');
    const drained = await administrator.post(`/workers/${listed.workers[0].id}/drain`);
    expect(drained.status).toBe(202);
    expect(drained.body.status).toBe('draining');
    const id = await publish(administrator, 'late', commands({ act: 'true' }));
    // The answer to its next heartbeat tells the worker to drain.
    await expect.poll(heartbeat).not.toBe(drained.body.heartbeat_at);
    const { body } = await administrator.post('/runs', { template_id: id });
    await untilWaiting(body.id, 'no_worker');
    await system.stopWorker();
    await system.startWorker();
    expect(await administrator.awaitRun(body.id, ended)).toMatchObject({ status: 'succeeded', waiting_on: null });
  });
});

describe('a pool', () => {
  it('a pool without a worker makes its runs wait with no_worker', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'elsewhere', { ...commands({ act: 'true' }), pool: 'far-away' });
    const { body } = await administrator.post('/runs', { template_id: id });
    await untilWaiting(body.id, 'no_worker');
    const { body: pools } = await administrator.get('/worker-pools');
    expect(pools.worker_pools).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'far-away', workers: 0, queued: 1 })]),
    );
    expect((await administrator.post(`/runs/${body.id}/cancel`)).status).toBe(202);
    expect(await administrator.awaitRun(body.id, ended)).toMatchObject({ status: 'canceled' });
  });

  it('is open only to its teams, which is checked at admission and before a run starts', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'guarded', { ...commands({ act: 'true' }), pool: 'guarded' });
    const { body: early } = await administrator.post('/runs', { template_id: id });
    await untilWaiting(early.id, 'no_worker');
    const closed = await administrator.post('/worker-pools', { name: 'guarded', team_ids: [] });
    expect(closed.body).toMatchObject({ name: 'guarded', team_ids: [], environment_ids: null });
    const refused = await administrator.post('/runs', { template_id: id });
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain('"guarded" is not open');
    expect(await administrator.awaitRun(early.id, ended)).toMatchObject({
      status: 'failed',
      status_reason: 'pool_closed',
    });
    await administrator.send('PATCH', '/worker-pools/guarded', { team_ids: null });
    expect((await administrator.post('/runs', { template_id: id })).status).toBe(202);
  });
});

describe('an attempt whose run was ended by force', () => {
  it('is killed, and its late results are refused', async () => {
    const { administrator } = system;
    const gate = at.newGate();
    const stubborn = `trap "" INT; echo begun; while [ ! -e ${gate} ]; do sleep 0.05; done; echo survived`;
    const id = await publish(administrator, 'stubborn', commands({ act: stubborn }));
    const { body } = await administrator.post('/runs', { template_id: id });
    await administrator.awaitLog(body.id, 'begun');
    expect(findProcesses(gate)).not.toEqual([]);
    const forced = await administrator.post(`/runs/${body.id}/cancel`, { force: true });
    expect(forced.body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
    at.openGate(gate);
    await expect.poll(() => findProcesses(gate)).toEqual([]);
    const next = await runToEnd(administrator, { template_id: id, operation: 'plan' });
    expect(next.status).toBe('succeeded');
    const log = await administrator.get(`/runs/${body.id}/logs`, { accept: 'text/plain' });
    expect(log.text).not.toContain('survived');
    expect((await administrator.get(`/runs/${body.id}`)).body.status).toBe('canceled');
  });
});

async function untilWaiting(runId: string, code: string): Promise<void> {
  await expect.poll(async () => (await system.administrator.get(`/runs/${runId}`)).body.waiting_on?.code).toBe(code);
}
