import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine } from '#engine/connection.ts';
import type { Caller } from '#test/support/api/caller.ts';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { publish, runToEnd } from '#test/support/templates.ts';

/** Two resources, of which each has its own variable. */
const spec = {
  variables: {
    type: 'object',
    properties: { cidr: { type: 'string' }, size: { type: 'object' } },
  },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
variable "cidr" { type = string }
variable "size" { type = object({ cpu = number, memory = number }) }
resource "terraform_data" "network" { input = var.cidr }
resource "terraform_data" "machine" { input = var.size }
`,
    },
  },
};

let system: System;
let caller: Caller;
let template: string;
beforeAll(async () => {
  system = await startSystem();
  caller = system.administrator;
  template = await publish(caller, 'machines', spec);
});
afterAll(() => system?.close());

const deploy = async (instance: string, cidr: string, cpu: number, memory: number) => {
  const variables = { cidr, size: { cpu, memory } };
  const run = await runToEnd(caller, { template_id: template, instance, variables });
  expect(run.status, JSON.stringify(run)).toBe('succeeded');
  return run;
};

async function awaitAttempt(id: string, ...states: string[]) {
  const read = async () => (await caller.get(`/selective-undo/${id}`)).body;
  await expect.poll(async () => states.includes((await read()).state), { timeout: 120_000, interval: 200 }).toBe(true);
  return read();
}

/** The workflow that the engine knows by an id. */
async function describeWorkflow(id: string) {
  const engine = openEngine(system.config.temporal);
  const { type, status } = await engine.client.workflow.getHandle(id).describe();
  await engine.close();
  return { type, status: status.name };
}

/** Checks, plans and promotes the undo of a run, and waits for the end of the run that deploys it. */
async function undo(runId: string) {
  const { body } = await caller.post(`/runs/${runId}/selective-undo/check`, undefined, {
    'idempotency-key': randomUUID(),
  });
  const ready = await awaitAttempt(body.id, 'ready', 'blocked', 'failed', 'conflicted');
  expect(ready.state, JSON.stringify(ready)).toBe('ready');
  await caller.post(`/selective-undo/${body.id}/candidate-checks`);
  const attempt = await awaitAttempt(body.id, 'promotable', 'ready');
  const { digest, collateral } = attempt.candidate;
  const promoted = await caller.post(`/selective-undo/${body.id}/promote`, {
    candidate_digest: digest,
    accepted_collateral: collateral,
  });
  expect(promoted.status, promoted.text).toBe(202);
  return { attempt, run: await caller.awaitRun(promoted.body.id, ended) };
}

const plan = (instance: string, variables: object) =>
  runToEnd(caller, { template_id: template, instance, operation: 'plan', variables });

describe('the undo of the second of three applies', () => {
  it('keeps the change of the third, leaves a plan without changes, and can be redone', async () => {
    await deploy('main', '10.0.0.0/16', 1, 1);
    const second = await deploy('main', '10.0.0.0/16', 4, 1);
    await deploy('main', '10.9.0.0/16', 4, 1);

    const undone = await undo(second.id);
    expect(undone.attempt).toMatchObject({
      verdicts: [{ path: '/variables/size/cpu', verdict: 'clean' }],
      candidate: { variables: { cidr: '10.9.0.0/16', size: { cpu: 1, memory: 1 } }, collateral: [] },
    });
    expect(undone.run).toMatchObject({ status: 'succeeded', undoes: second.id, plan: { summary: { change: 1 } } });
    const empty = await plan('main', { cidr: '10.9.0.0/16', size: { cpu: 1, memory: 1 } });
    expect(empty).toMatchObject({ status: 'succeeded', plan: { summary: { add: 0, change: 0, destroy: 0 } } });
    await expect.poll(async () => (await caller.get(`/runs/${second.id}`)).body.undone_by).toBe(undone.run.id);

    const redone = await undo(undone.run.id);
    expect(redone.run).toMatchObject({
      status: 'succeeded',
      variables: { cidr: '10.9.0.0/16', size: { cpu: 4, memory: 1 } },
    });
  });
});

describe('the check of an undo', () => {
  const check = (runId: string, key: string) =>
    caller.post(`/runs/${runId}/selective-undo/check`, undefined, { 'idempotency-key': key });

  it('is a workflow of the engine whose id is the key of the request', async () => {
    await deploy('keyed', '10.0.0.0/16', 1, 1);
    const { id } = await deploy('keyed', '10.0.0.0/16', 2, 1);
    const key = randomUUID();
    const { body } = await check(id, key);
    expect((await awaitAttempt(body.id, 'ready', 'blocked', 'failed')).state).toBe('ready');
    await expect.poll(() => describeWorkflow(key)).toEqual({ type: 'undoCheck', status: 'COMPLETED' });
  });

  it('is such a workflow as well if the runs alone decide', async () => {
    const { id } = await deploy('first', '10.0.0.0/16', 1, 1);
    const key = randomUUID();
    const { body } = await check(id, key);
    expect(body).toMatchObject({ state: 'blocked', baseline_run_id: null });
    await expect
      .poll(() => describeWorkflow(key).catch(() => null))
      .toEqual({ type: 'undoCheck', status: 'COMPLETED' });
  });
});
