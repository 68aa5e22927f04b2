import { beforeEach, describe, expect, it } from 'vitest';
import { SandboxDemanded } from '#domain/runs/errors.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun, readEvents } = await openRunStepsApi();
let pools = 0;
/** Each test has its own pool. */
let pool: string;
beforeEach(async () => {
  pool = `pool-${++pools}`;
  await admin.make('/worker-pools', { name: pool });
});

const setIsolation = (isolation: 'sandbox' | null) => admin.patch(`/worker-pools/${pool}`, { isolation });
const admit = (request: object = {}) => steps.admit(request, { pool });

describe('the queue of an attempt', () => {
  it('is the queue of contained workers if one is live, even if uncontained workers are live as well', async () => {
    await steps.worker('none', pool);
    await steps.worker('sandbox', pool);
    expect(await steps.next({ runId: await admit() })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
  });

  it('is the queue of uncontained workers if only they are live and no sandbox is required', async () => {
    await steps.worker('none', pool);
    const step = await steps.next({ runId: await admit() });
    expect(step).toMatchObject({ kind: 'execute', taskQueue: `uncontained-pool.${pool}` });
  });

  it('is the queue of contained workers for a worker of the previous release, whose isolation is unknown', async () => {
    const id = await steps.worker('none', pool);
    await api.rows('update workers set isolation = null where id = ?', [id]);
    const runId = await admit();
    expect(await steps.next({ runId })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
    await setIsolation('sandbox');
    expect(await steps.next({ runId })).toMatchObject({ kind: 'wait' });
  });

  it('is chosen again for an attempt that no worker has claimed', async () => {
    const contained = await steps.worker('sandbox', pool);
    const runId = await admit();
    const first = await steps.next({ runId });
    expect(first).toMatchObject({ taskQueue: `pool.${pool}`, startWithinSeconds: 600 });
    await api.rows('delete from workers where id = ?', [contained]);
    await steps.worker('none', pool);
    const second = await steps.next({ runId, executed: executing(first) });
    expect(second).toMatchObject({ kind: 'execute', taskQueue: `uncontained-pool.${pool}` });
  });
});

describe('a run that requires a sandbox', () => {
  it('a run that requires a sandbox because of its pool waits while only uncontained workers are live, and one event says why', async () => {
    await steps.worker('none', pool);
    await setIsolation('sandbox');
    const runId = await admit();
    for (let looks = 0; looks < 2; looks += 1)
      expect(await steps.next({ runId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({
      status: 'queued',
      waiting_on: { code: 'no_worker' },
      isolation: null,
    });
    const events = await readEvents(runId, 'run.not_contained');
    expect(events).toMatchObject([{ data: { pool, message: expect.stringContaining('no live worker') } }]);
    await steps.worker('sandbox', pool);
    expect(await steps.next({ runId })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
  });

  it('a run that requires a sandbox because of its environment is not dispatched to an uncontained worker', async () => {
    const { owner, team, environment } = await makeTenant(api, { isolation: 'sandbox' });
    const templateId = await steps.publish({ pool });
    await steps.worker('none', pool);
    const { body } = await admin.post('/runs', { template_id: templateId, environment_id: environment });
    expect(body.team_id).toBe(team);
    expect(await steps.next({ runId: body.id })).toMatchObject({ kind: 'wait' });
    await owner.patch(`/environments/${environment}`, { isolation: null });
    expect(await steps.next({ runId: body.id })).toMatchObject({ taskQueue: `uncontained-pool.${pool}` });
  });

  it('is refused to an uncontained worker even if the requirement was set between dispatch and claim', async () => {
    const weak = await steps.worker('none', pool);
    const runId = await admit();
    const attemptId = executing(await steps.next({ runId }));
    await setIsolation('sandbox');
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
    await steps.abandon(attemptId, weak, 'handed_back');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({ status: 'running', isolation: null });
    const strong = await steps.worker('sandbox', pool);
    const again = await steps.next({ runId, executed: attemptId });
    expect(again).toMatchObject({ taskQueue: `pool.${pool}` });
    expect(await steps.claim(executing(again), strong, 'sandbox')).not.toBeNull();
  });

  it('is refused to an uncontained worker even if the requirement was set between plan and apply', async () => {
    const weak = await steps.worker('none', pool);
    const { attemptId } = await steps.planned(weak, 'none', {}, { pool });
    await setIsolation('sandbox');
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('is refused to a worker that claims to be contained while its row says otherwise', async () => {
    const weak = await steps.worker('none', pool);
    const attemptId = executing(await steps.next({ runId: await admit() }));
    await setIsolation('sandbox');
    await expect(steps.claim(attemptId, weak, 'sandbox')).rejects.toThrow(SandboxDemanded);
    await api.rows('delete from workers where id = ?', [weak]);
    await expect(steps.claim(attemptId, weak, 'sandbox')).rejects.toThrow(SandboxDemanded);
  });

  it('ends at once when it is canceled while it waits', async () => {
    const weak = await steps.worker('none', pool);
    const { runId } = await steps.planned(weak, 'none', {}, { pool });
    await setIsolation('sandbox');
    await admin.post(`/runs/${runId}/cancel`);
    expect(await steps.next({ runId, canceled: true })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'canceled' });
  });
});

describe('a run', () => {
  it('shows no isolation before it is executed, and its isolation afterwards', async () => {
    const worker = await steps.worker('sandbox', pool);
    const runId = await admit();
    const step = await steps.next({ runId });
    expect(await readRun(runId)).toMatchObject({ isolation: null });
    await steps.claim(executing(step), worker, 'sandbox');
    expect(await readRun(runId)).toMatchObject({ isolation: 'sandbox' });
  });

  it('shows the weakest isolation of its attempts', async () => {
    const weak = await steps.worker('none', pool);
    const strong = await steps.worker('sandbox', pool);
    const { runId, attemptId } = await steps.planned(strong, 'sandbox', {}, { pool });
    expect(await readRun(runId)).toMatchObject({ isolation: 'sandbox' });
    expect(await steps.claim(attemptId, weak, 'none')).not.toBeNull();
    expect(await readRun(runId)).toMatchObject({ isolation: 'none' });
    expect(await api.rows('select isolation from run_attempts where run_id = ? order by id', [runId])).toEqual([
      { isolation: 'sandbox' },
      { isolation: 'none' },
    ]);
  });

  it('is claimed with the egress policy of its pool', async () => {
    const worker = await steps.worker('sandbox', pool);
    const first = await steps.next({ runId: await admit() });
    const work = await steps.claim(executing(first), worker, 'sandbox');
    expect(work?.egress).toEqual({ policy: 'internet', allow: [] });
    const egress = { policy: 'allow', allow: ['registry.opentofu.org', '10.1.0.0/16'] };
    expect(await admin.patch(`/worker-pools/${pool}`, { egress })).toMatchObject({ status: 200 });
    const second = await steps.next({ runId: await admit() });
    expect((await steps.claim(executing(second), worker, 'sandbox'))?.egress).toEqual(egress);
  });
});
