import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import type { AttemptResult } from '#domain/runs/attempts/writes.ts';
import { type Principal, systemPrincipal } from '#domain/shared/access/principal.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
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

const planned = { outcome: 'planned', plan: aPlan() } as const;
const applied = { outcome: 'applied', outputs: {}, resourceCount: 2 } as const;
const unchanged = { outcome: 'unchanged', plan: aPlan() } as const;
const failed = { outcome: 'failed', reason: 'apply_failed' } as const;

/** Runs to its end with these results of its attempts, and returns the run. */
async function run(instance: string, request: object, results: readonly Partial<AttemptResult>[]) {
  const admitted = await root.post('/runs', { template_id: template, instance, ...request });
  expect(admitted.status, admitted.text).toBe(202);
  const runId = admitted.body.id;
  let executed = executing(await steps.next({ runId }));
  for (const result of results) {
    await steps.claim(executed, worker, 'sandbox', tools);
    await steps.complete(executed, { tool: tools[0] ?? null, ...result } as AttemptResult);
    const next = await steps.next({ runId, executed });
    if (next.kind === 'execute') executed = next.attemptId;
  }
  return (await root.get(`/runs/${runId}`)).body;
}

const instanceOf = async (id: string) => (await root.get(`/instances/${id}`)).body;

describe('an apply without changes', () => {
  it('becomes the last deployment, from which a destroy takes its variables', async () => {
    const first = await run('unchanged', {}, [planned, applied]);
    const second = await run('unchanged', { variables: { cidr: '10.9.0.0/16' } }, [unchanged]);
    expect([second.status, second.state_serial_after]).toEqual(['succeeded', null]);
    expect(await instanceOf(first.instance_id)).toMatchObject({ deployed_run_id: second.id, unrecorded_since: null });
    const destroy = await root.post('/runs', { template_id: template, instance: 'unchanged', operation: 'destroy' });
    expect(destroy.body.variables).toMatchObject({ cidr: '10.9.0.0/16' });
  });

  it('becomes the last deployment if nothing was deployed before', async () => {
    const first = await run('empty', {}, [unchanged]);
    expect((await instanceOf(first.instance_id)).deployed_run_id).toBe(first.id);
  });

  it('stores the outputs of the state that an interrupted apply before it did not report', async () => {
    const outputs = { address: { value: 'new', sensitive: false }, token: { value: 'hidden', sensitive: true } };
    const first = await run('interrupted', {}, [planned, { outcome: 'failed', reason: 'apply_interrupted' }]);
    const second = await run('interrupted', {}, [{ ...unchanged, outputs }]);
    const read = (await root.get(`/instances/${first.instance_id}/outputs`)).body.outputs;
    expect([second.status, second.outputs, read]).toEqual(['succeeded', read, read]);
    expect(read).toMatchObject({ address: { value: 'new' }, token: { sensitive: true } });
    expect(JSON.stringify(read)).not.toContain('hidden');
  });

  it('is not the deployment if it only planned, was partial, or was being canceled', async () => {
    const first = await run('kept', {}, [planned, applied]);
    await run('kept', { operation: 'plan' }, [unchanged]);
    await run('kept', { options: { target: ['terraform_data.network'] } }, [unchanged]);
    const { body } = await root.post('/runs', { template_id: template, instance: 'kept' });
    const executed = executing(await steps.next({ runId: body.id }));
    await steps.claim(executed, worker, 'sandbox', tools);
    expect((await root.post(`/runs/${body.id}/cancel`, {})).status).toBe(202);
    await steps.complete(executed, { tool: tools[0] ?? null, ...unchanged } as unknown as AttemptResult);
    await steps.next({ runId: body.id, executed });
    expect((await instanceOf(first.instance_id)).deployed_run_id).toBe(first.id);
  });

  it('can be undone', async () => {
    await run('undone', {}, [planned, applied]);
    const second = await run('undone', { variables: { cidr: '10.8.0.0/16' } }, [unchanged]);
    const { status, body, text } = await root.post(`/runs/${second.id}/selective-undo/check`, undefined, {
      'idempotency-key': randomUUID(),
    });
    expect(status, text).toBe(202);
    expect(body.problem?.code ?? null).not.toBe('deployment_unknown');
  });
});

describe('a run that fails while it applies', () => {
  it('is recorded in unrecorded_since of the instance, and does not become the deployment', async () => {
    const first = await run('broken', {}, [planned, applied]);
    const second = await run('broken', { variables: { cidr: '10.7.0.0/16' } }, [planned, failed]);
    expect(second.status).toBe('failed');
    const { deployed_run_id, unrecorded_since } = await instanceOf(first.instance_id);
    expect([deployed_run_id, unrecorded_since.run_id]).toEqual([first.id, second.id]);
    expect(Date.parse(unrecorded_since.at)).toBeGreaterThan(Date.parse(second.created_at));
    const third = await run('broken', {}, [planned, applied]);
    expect(await instanceOf(first.instance_id)).toMatchObject({ deployed_run_id: third.id, unrecorded_since: null });
  });

  it('is not recorded if it failed while it planned', async () => {
    const first = await run('unplanned', {}, [{ outcome: 'failed', reason: 'plan_failed' }]);
    expect((await instanceOf(first.instance_id)).unrecorded_since).toBeNull();
  });

  it('is no longer recorded after an apply without changes', async () => {
    await run('mended', {}, [planned, applied]);
    await run('mended', {}, [planned, failed]);
    const third = await run('mended', {}, [unchanged]);
    expect((await instanceOf(third.instance_id)).unrecorded_since).toBeNull();
  });
});

describe('a scan after a run that failed while it applied', () => {
  async function scan(instanceId: string, requester: Principal) {
    await api.rows('update instances set resource_count = 1 where id = ? returning id', [instanceId]);
    const { orm, keyRing } = api.services;
    const transactions = new Transactions(orm, { dispatch: () => undefined });
    const request = { key: randomUUID(), instanceId, requester };
    const { runId } = await transactions.run((tx) => admitScan(tx, { keyRing }, request));
    const executed = executing(await steps.next({ runId }));
    await steps.claim(executed, worker, 'sandbox', tools);
    await steps.complete(executed, { tool: tools[0] ?? null, ...unchanged } as unknown as AttemptResult);
    await steps.next({ runId, executed });
    expect((await root.get(`/runs/${runId}`)).body.status).toBe('succeeded');
  }

  it('clears unrecorded_since if a person started it, and not if a schedule did', async () => {
    await run('scanned', {}, [planned, applied]);
    const lost = await run('scanned', {}, [planned, failed]);
    const unrecorded = async () => (await instanceOf(lost.instance_id)).unrecorded_since?.run_id ?? null;
    const schedule = systemPrincipal('drift monitor');
    await scan(lost.instance_id, schedule);
    expect(await unrecorded()).toBe(lost.id);
    await scan(lost.instance_id, { ...schedule, kind: 'user', id: root.id, responsibleUserId: root.id });
    expect(await unrecorded()).toBeNull();
  });
});

describe('the revision of an instance', () => {
  const revisionOf = async (id: string) => (await instanceOf(id)).revision;

  it('increases exactly when its last deployment or unrecorded_since changes', async () => {
    const { instance_id: id } = await run('counted', {}, [unchanged]);
    const deployed = await revisionOf(id);
    expect(deployed, 'the first deployment').toBeGreaterThan(1);
    await run('counted', { operation: 'plan' }, [unchanged]);
    expect(await revisionOf(id), 'a plan').toBe(deployed);
    await run('counted', {}, [unchanged]);
    const again = await revisionOf(id);
    expect(again, 'another deployment').toBeGreaterThan(deployed);
    await run('counted', {}, [planned, failed]);
    const broken = await revisionOf(id);
    expect(broken, 'a failure').toBeGreaterThan(again);
    await run('counted', {}, [planned, failed]);
    expect(await revisionOf(id), 'a further failure').toBe(broken);
    await run('counted', {}, [unchanged]);
    expect(await revisionOf(id), 'all is recorded').toBeGreaterThan(broken);
  });

  it('is its etag, with which a read nevertheless answers 200, because other resources are part of the answer', async () => {
    const { instance_id: id } = await run('answered', {}, [unchanged]);
    const first = await root.get(`/instances/${id}`);
    const second = await root.get(`/instances/${id}`, { 'if-none-match': String(first.headers['etag']) });
    expect([first.headers['etag'], second.status]).toEqual([`"${first.body.revision}"`, 200]);
    expect(second.body).toEqual(first.body);
    expect(second.headers['cache-control']).toBe('no-store');
  });
});
