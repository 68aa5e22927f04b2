import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';
import { network } from '#test/support/templates.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let worker: string;
let template: string;
const tools = [{ name: 'opentofu', version: '1.12.6' }];
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox', 'default', tools);
  template = await steps.publish(network);
});
afterAll(() => api?.close());

/** Runs to its end, and returns the run. */
async function deploy(instance: string, request: object = {}) {
  const admitted = await root.post('/runs', { template_id: template, instance, ...request });
  expect(admitted.status, admitted.text).toBe(202);
  const runId = admitted.body.id;
  let executed = executing(await steps.next({ runId }));
  for (const result of [
    { outcome: 'planned', plan: aPlan() },
    { outcome: 'applied', outputs: {}, resourceCount: 2 },
  ] as const) {
    await steps.claim(executed, worker, 'sandbox', tools);
    await steps.complete(executed, { ...result, tool: tools[0] ?? null });
    const next = await steps.next({ runId, executed });
    if (next.kind === 'execute') executed = next.attemptId;
  }
  const { body } = await root.get(`/runs/${runId}`);
  expect(body.status).toBe('succeeded');
  return body;
}

const instanceOf = async (id: string) => (await root.get(`/instances/${id}`)).body;
const deployedBy = async (id: string) => (await instanceOf(id)).deployed_run_id;
const unrecordedBy = async (id: string) => (await instanceOf(id)).unrecorded_since?.run_id ?? null;
const partial = { options: { target: ['terraform_data.network'] } };

describe('a partial run that succeeds', () => {
  it('does not become the deployment of its instance, unlike the next complete run', async () => {
    const whole = await deploy('partly');
    await deploy('partly', partial);
    expect(await deployedBy(whole.instance_id)).toBe(whole.id);
    await deploy('partly', { ...partial, operation: 'destroy' });
    expect(await deployedBy(whole.instance_id)).toBe(whole.id);
    const next = await deploy('partly');
    expect(await deployedBy(whole.instance_id)).toBe(next.id);
  });

  it('is recorded in unrecorded_since of its instance until a complete run succeeds', async () => {
    const whole = await deploy('unrecorded');
    expect(await unrecordedBy(whole.instance_id)).toBeNull();
    const part = await deploy('unrecorded', { ...partial, variables: { cidr: '10.9.0.0/16' } });
    expect(await unrecordedBy(whole.instance_id)).toBe(part.id);
    const listed = async (flag: boolean) =>
      (await root.get(`/instances?unrecorded=${flag}`)).body.instances.map(({ id }: { id: string }) => id);
    expect(await listed(true)).toContain(whole.instance_id);
    expect(await listed(false)).not.toContain(whole.instance_id);
    await deploy('unrecorded', { ...partial, operation: 'destroy' });
    expect(await unrecordedBy(whole.instance_id), 'the first of them').toBe(part.id);
    await deploy('unrecorded');
    expect(await unrecordedBy(whole.instance_id)).toBeNull();
  });

  it('is not recorded in unrecorded_since if it only refreshed the state', async () => {
    const whole = await deploy('refreshed');
    await deploy('refreshed', { ...partial, operation: 'refresh' });
    expect(await unrecordedBy(whole.instance_id)).toBeNull();
  });

  it('becomes the deployment of an instance that had none, and is recorded in unrecorded_since', async () => {
    const first = await deploy('first-partly', partial);
    expect(await deployedBy(first.instance_id)).toBe(first.id);
    expect(await unrecordedBy(first.instance_id)).toBe(first.id);
  });
});

describe('the digest of a plan', () => {
  it('covers the options of its run', async () => {
    const { body: run } = await root.post('/runs', { template_id: template, instance: 'digested', operation: 'plan' });
    const planning = executing(await steps.next({ runId: run.id }));
    await steps.claim(planning, worker, 'sandbox', tools);
    const digests: unknown[] = [];
    for (const options of [null, '{"parallelism": 1}', '{"parallelism": 2}']) {
      await api.rows('update runs set options = ?::jsonb where id = ?', [options, run.id]);
      await api.rows('update run_attempts set outcome = null, finished_at = null where id = ?', [planning]);
      await steps.complete(planning, { outcome: 'planned', plan: aPlan({ artifact: Buffer.from('same') }) });
      digests.push((await root.get(`/runs/${run.id}`)).body.plan.digest);
    }
    expect(new Set(digests).size).toBe(3);
  });
});
