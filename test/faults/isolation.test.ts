import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SandboxDemanded } from '#domain/runs/errors.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { executing, RunSteps } from '#test/support/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let pools = 0;
/** A pool of its own for each test. */
let pool: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());
beforeEach(async () => {
  pool = `pool-${++pools}`;
  await admin.make('/worker-pools', { name: pool });
});

const demand = (isolation: 'sandbox' | null) => admin.patch(`/worker-pools/${pool}`, { isolation });
const readRun = async (id: string) => (await admin.get(`/runs/${id}`)).body;
const storyOf = async (id: string) => (await admin.get(`/runs/${id}/events`)).body.events;
const admit = (request: object = {}) => steps.admit(request, { pool });

describe('the queue of an attempt', () => {
  it('is that of contained workers where one lives, whatever else lives', async () => {
    await steps.worker('none', pool);
    await steps.worker('sandbox', pool);
    expect(await steps.next({ runId: await admit() })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
  });

  it('is that of uncontained workers where only they live and nothing is demanded', async () => {
    await steps.worker('none', pool);
    const step = await steps.next({ runId: await admit() });
    expect(step).toMatchObject({ kind: 'execute', taskQueue: `uncontained-pool.${pool}` });
  });

  it('is that of contained workers for a worker of the release before, which does not say what it has', async () => {
    const id = await steps.worker('none', pool);
    await api.rows('update workers set isolation = null where id = ?', [id]);
    const runId = await admit();
    expect(await steps.next({ runId })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
    await demand('sandbox');
    expect(await steps.next({ runId })).toMatchObject({ kind: 'wait' });
  });

  it('is chosen anew for an attempt that nobody has taken', async () => {
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

describe('a run that demands a sandbox', () => {
  it('of its pool waits while only weaker workers live, and its story says why, once', async () => {
    await steps.worker('none', pool);
    await demand('sandbox');
    const runId = await admit();
    for (let looks = 0; looks < 2; looks += 1)
      expect(await steps.next({ runId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({
      status: 'queued',
      waiting_on: { code: 'no_worker' },
      isolation: null,
    });
    const told = (await storyOf(runId)).filter(({ type }: { type: string }) => type === 'run.not_contained');
    expect(told).toMatchObject([{ data: { pool, message: expect.stringContaining('no live worker') } }]);
    await steps.worker('sandbox', pool);
    expect(await steps.next({ runId })).toMatchObject({ kind: 'execute', taskQueue: `pool.${pool}` });
  });

  it('of its environment is given to no weaker worker either', async () => {
    const { owner, team, environment } = await makeTenant(api, { isolation: 'sandbox' });
    const templateId = await steps.publish({ pool });
    await steps.worker('none', pool);
    const { body } = await admin.post('/runs', { template_id: templateId, environment_id: environment });
    expect(body.team_id).toBe(team);
    expect(await steps.next({ runId: body.id })).toMatchObject({ kind: 'wait' });
    await owner.patch(`/environments/${environment}`, { isolation: null });
    expect(await steps.next({ runId: body.id })).toMatchObject({ taskQueue: `uncontained-pool.${pool}` });
  });

  it('is refused to a weaker worker also where the demand came between dispatch and claim', async () => {
    const weak = await steps.worker('none', pool);
    const runId = await admit();
    const attemptId = executing(await steps.next({ runId }));
    await demand('sandbox');
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
    await steps.abandon(attemptId, weak, 'handed_back');
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 5 });
    expect(await readRun(runId)).toMatchObject({ status: 'running', isolation: null });
    const strong = await steps.worker('sandbox', pool);
    const again = await steps.next({ runId, executed: attemptId });
    expect(again).toMatchObject({ taskQueue: `pool.${pool}` });
    expect(await steps.claim(executing(again), strong, 'sandbox')).not.toBeNull();
  });

  it('is refused where the demand came between its plan and its apply', async () => {
    const weak = await steps.worker('none', pool);
    const { attemptId } = await steps.planned(weak, 'none', {}, { pool });
    await demand('sandbox');
    await expect(steps.claim(attemptId, weak, 'none')).rejects.toThrow(SandboxDemanded);
  });

  it('is refused to a worker that says it contains, and whose row does not say so', async () => {
    const weak = await steps.worker('none', pool);
    const attemptId = executing(await steps.next({ runId: await admit() }));
    await demand('sandbox');
    await expect(steps.claim(attemptId, weak, 'sandbox')).rejects.toThrow(SandboxDemanded);
    await api.rows('delete from workers where id = ?', [weak]);
    await expect(steps.claim(attemptId, weak, 'sandbox')).rejects.toThrow(SandboxDemanded);
  });

  it('ends at once where it is canceled while it waits', async () => {
    const weak = await steps.worker('none', pool);
    const { runId } = await steps.planned(weak, 'none', {}, { pool });
    await demand('sandbox');
    await admin.post(`/runs/${runId}/cancel`);
    expect(await steps.next({ runId, canceled: true })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'canceled' });
  });
});

describe('a run', () => {
  it('shows no isolation before it was executed, and then what it had', async () => {
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

  it('is given to a worker with what its pool may reach', async () => {
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
