import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine } from '#engine/connection.ts';
import type { Caller } from '#test/support/api/caller.ts';
import { ended, type System, startSystem } from '#test/support/system.ts';
import { publish, runToEnd } from '#test/support/templates.ts';

/** Two resources, each with its own variable. */
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

/** Keys that only the environment knows as secrets. */
const keyed = {
  variables: {
    type: 'object',
    properties: { one: { type: 'string' }, two: { type: 'string' }, size: { type: 'number' } },
  },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
variable "one" { type = string }
variable "two" { type = string }
variable "size" { type = number }
resource "terraform_data" "of" {
  for_each = toset([var.one, var.two, "open"])
  input    = var.size
}
`,
    },
  },
};

describe('the undo of a run whose resources have secrets in their addresses', () => {
  it('is promoted with masked addresses, and no response contains the secrets', async () => {
    const make = async (path: string, body: object) => (await caller.post(path, body)).body.id as string;
    const organization = await make('/organizations', { name: 'Keys', slug: 'keys' });
    const team = await make(`/organizations/${organization}/teams`, { name: 'Core' });
    const project = await make('/projects', { team_id: team, name: 'Network' });
    const environment = await make('/environments', { project_id: project, name: 'Test', kind: 'development' });
    const secrets = { one: 'hunter2-of-alpha', two: 'hunter2-of-beta' };
    const variables = Object.entries(secrets).map(([name, value]) => ({
      name,
      value,
      category: 'template',
      sensitive: true,
    }));
    const set = await caller.send('PUT', `/environments/${environment}/variables`, { variables });
    expect(set.status, set.text).toBe(200);
    const place = { template_id: await publish(caller, 'keyed', keyed, team), environment_id: environment };
    const sized = (size: number) => runToEnd(caller, { ...place, instance: 'keyed', variables: { size } });
    expect((await sized(1)).status).toBe('succeeded');
    const second = await sized(2);

    const { attempt, run } = await undo(second.id);
    const names = ['terraform_data.of["[redacted]"]', 'terraform_data.of["[redacted]"] (2)'];
    expect(attempt.candidate.collateral).toEqual(names);
    expect(run).toMatchObject({ status: 'succeeded', undoes: second.id, plan: { summary: { change: 3 } } });
    const paths = [`/selective-undo/${attempt.id}`, `/selective-undo/${attempt.id}/candidate-checks`];
    for (const path of [...paths, `/runs/${run.id}`, `/runs/${run.id}/plan`, `/runs/${run.id}/events`, '/audit'])
      expect((await caller.get(path)).text).not.toContain('hunter2');
    expect((await sized(1)).plan.summary).toMatchObject({ add: 0, change: 0, destroy: 0 });
  }, 180_000);
});

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

  it('is such a workflow even if the result follows from the runs', async () => {
    const { id } = await deploy('first', '10.0.0.0/16', 1, 1);
    const key = randomUUID();
    const { body } = await check(id, key);
    expect(body).toMatchObject({ state: 'blocked', baseline_run_id: null });
    await expect
      .poll(() => describeWorkflow(key).catch(() => null))
      .toEqual({ type: 'undoCheck', status: 'COMPLETED' });
  });
});
