import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import { type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let visitor: Visitor;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox');
  visitor = await signInVisitor(api, root);
});
afterAll(() => api?.close());

const monitor = randomUUID();
const step = { name: 'act', run: ['true'] };
const detecting = { executor: { kind: 'command', apply: [step], detect: [step] } };

/** Admits a scan of a newly deployed instance; returns its run. */
async function admitted(): Promise<string> {
  const { runId, attemptId } = await steps.planned(worker, 'sandbox', {}, detecting);
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'applied', outputs: {} });
  await steps.next({ runId, executed: attemptId });
  const { body } = await root.get(`/runs/${runId}`);
  expect(body.status).toBe('succeeded');
  const { keyRing, transactions } = api.services;
  const requester = systemPrincipal('drift monitor');
  const request = { key: randomUUID(), instanceId: body.instance_id, requester, links: { driftMonitorId: monitor } };
  return (await transactions.run((tx) => admitScan(tx, { keyRing }, request))).runId;
}

async function begun() {
  const runId = await admitted();
  const attemptId = executing(await steps.next({ runId }));
  await steps.claim(attemptId, worker, 'sandbox');
  return { runId, attemptId };
}

/** A scan that has ended and has found something. */
async function found(...changes: ResourceChange[]): Promise<string> {
  const { runId, attemptId } = await begun();
  const plan = aPlan({ changes, summary: summarizePlan(changes) });
  await steps.complete(attemptId, { outcome: changes.length > 0 ? 'planned' : 'unchanged', plan });
  await steps.next({ runId, executed: attemptId });
  return runId;
}

const show = async (id: string, tab = 'plan') => (await visitor.get(`/workloads/runs/${id}?tab=${tab}`)).text;

describe('the page of a scan', () => {
  it('shows that it waits and will change nothing', async () => {
    const text = await show(await admitted());
    expect(text).toContain('Scan for drift: ');
    expect(text).toContain('drift monitor');
    expect(text).toContain(`<a href="/drift/monitors/${monitor}">a drift monitor</a>`);
    expect(text).toContain('>Detect<');
    expect(text).toContain('No result yet');
    expect(text).not.toMatch(/>Approval<|>Apply<|>Plan</);
  });

  it('shows what differs, what is missing and what is unexpected', async () => {
    const id = await found(
      { address: 'file.one', action: 'update', before: { mode: '0600' }, after: { mode: '0777' } },
      { address: 'file.two', action: 'delete', before: { mode: '0600' }, after: null },
      { address: 'file.three', action: 'create', before: null, after: { mode: '0600' } },
    );
    const text = await show(id);
    expect(text).toContain('Found: ');
    for (const words of ['1 missing', '1 different', '1 unexpected']) expect(text).toContain(words);
    expect(text).toContain('Expected, but not found.');
    expect(text).toContain('Found, but not expected.');
    expect(text).toMatch(/0600[\s\S]*0777/);
    expect(await show(id, 'events')).toContain('The scan finished: 1 missing, 1 different, 1 unexpected.');
  });

  it('says that nothing differs', async () => {
    expect(await show(await found())).toContain('Everything is as it was deployed.');
  });

  it('says that it stopped for a run that changes the instance, and has no result', async () => {
    const { runId, attemptId } = await begun();
    const { body: run } = await root.get(`/runs/${runId}`);
    const next = await root.post('/runs', { template_id: run.template_id, instance: run.instance });
    executing(await steps.next({ runId: next.body.id }));
    await steps.complete(attemptId, { outcome: 'canceled' });
    await steps.next({ runId, executed: attemptId, canceled: true });
    const text = await show(runId);
    expect(text).toContain('A run that changes the instance began, and the scan gave way to it.');
    expect(text).toContain('The scan ended without a result');
    expect(await show(runId, 'events')).toContain('The scan stopped for a run that changes the instance.');
  });

  it('the page of a scan whose worker was lost three times says so', async () => {
    const { runId, attemptId } = await begun();
    let executed = attemptId;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await steps.abandon(executed, worker, 'lost');
      const step = await steps.next({ runId, executed });
      if (step.kind !== 'execute') break;
      expect(step.priority).toBe(5);
      executed = step.attemptId;
      await steps.claim(executed, worker, 'sandbox');
    }
    const { body } = await root.get(`/runs/${runId}`);
    expect(body).toMatchObject({ status: 'failed', status_reason: 'plan_interrupted' });
    expect(await show(runId)).toContain('The scan ended without a result');
  });
});
