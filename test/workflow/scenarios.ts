import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { templateCheckWorkflow } from '#domain/registry/checks/model.ts';
import type { Caller } from '#test/support/api/caller.ts';
import { addAssembly, awaitAssemblyRun, makePlace } from '#test/support/assembly-stage.ts';
import { PluginAdministrator } from '#test/support/plugins/plugin-world.ts';
import { addPlugin } from '#test/support/plugins/tenant-plugin.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

/** A path through a workflow: the requests that lead there, and the run that results, or else the type of the workflow that began last. */
export type Scenario = (
  caller: Caller,
  prepare: { waitMs: (milliseconds: number) => Promise<void> },
) => Promise<{ idempotency_key: string } | { workflow_type: string }>;

const quick = commands({ work: 'true' });
const slow = commands({ work: 'sleep 30' });
/** Keeps its variable in its state. */
const remembered = {
  variables: { type: 'object', properties: { a: { type: 'string' } } },
  executor: {
    kind: 'opentofu',
    files: { 'main.tf': 'variable "a" { type = string }\nresource "terraform_data" "a" { input = var.a }\n' },
  },
};
const reviewed = { ...quick, approval: { required: 1, when: 'always' } };
const impatient = { ...reviewed, timeouts: { approval: 'PT2S' } };

let number = 0;
async function admit(caller: Caller, spec: object, rest: object = {}) {
  number += 1;
  const templateId = await publish(caller, `scenario-${number}`, spec);
  const { body } = await caller.post('/runs', { template_id: templateId, ...rest });
  return { templateId, run: body };
}

const ofRuns: Record<string, Scenario> = {
  succeeded: async (caller) => {
    const { run } = await admit(caller, quick);
    return caller.awaitRun(run.id, ['succeeded']);
  },
  'plan-only': async (caller) => {
    const { run } = await admit(caller, quick, { operation: 'plan' });
    return caller.awaitRun(run.id, ['succeeded']);
  },
  failed: async (caller) => {
    const { run } = await admit(caller, commands({ work: 'exit 3' }));
    return caller.awaitRun(run.id, ['failed']);
  },
  'waiting-for-approval': async (caller) => {
    const { run } = await admit(caller, reviewed);
    return caller.awaitRun(run.id, ['pending_approval']);
  },
  rejected: async (caller) => {
    const { run } = await admit(caller, reviewed);
    const { plan } = await caller.awaitRun(run.id, ['pending_approval']);
    await caller.post(`/runs/${run.id}/approval/review`, {
      decision: 'reject',
      comment: 'not today',
      plan_digest: plan.digest,
    });
    return caller.awaitRun(run.id, ['canceled']);
  },
  'approval-timed-out': async (caller) => {
    const { run } = await admit(caller, impatient);
    return caller.awaitRun(run.id, ['timed_out']);
  },
  'canceled-while-waiting': async (caller) => {
    const { run } = await admit(caller, reviewed);
    await caller.awaitRun(run.id, ['pending_approval']);
    await caller.post(`/runs/${run.id}/cancel`);
    return caller.awaitRun(run.id, ['canceled']);
  },
  'canceled-while-applying': async (caller, { waitMs }) => {
    const { run } = await admit(caller, slow);
    await caller.awaitRun(run.id, ['running']);
    await waitMs(1_500);
    await caller.post(`/runs/${run.id}/cancel`);
    return caller.awaitRun(run.id, ['canceled']);
  },
  'second-in-line': async (caller) => {
    const { templateId, run } = await admit(caller, commands({ work: 'sleep 1' }));
    const second = await runToEnd(caller, { template_id: templateId });
    await caller.awaitRun(run.id, ['succeeded']);
    return second;
  },
};

const ofOthers: Record<string, Scenario> = {
  'assembly-succeeded': async (caller) => startAssembly(caller, {}, ['succeeded']),
  'assembly-waiting-for-approval': async (caller) =>
    startAssembly(caller, { approval: { required: 1 } }, ['pending_approval']),
  'assembly-canceled': async (caller) => {
    const { run, path } = await admitAssembly(caller, { approval: { required: 1 } });
    await awaitAssemblyRun(caller, path, ['pending_approval']);
    await caller.post(`${path}/cancel`);
    await awaitAssemblyRun(caller, path, ['canceled']);
    return run;
  },
  'assembly-retried': async (caller) => {
    const retry = { attempts: 2, backoff: 'PT1S' };
    return startAssembly(caller, { retry }, ['failed'], 'exit 3');
  },
  'plugin-resource-restored': async (caller) => {
    number += 1;
    const { organization, teamId: team } = await makePlace(caller, `scenario-${number}`);
    const { pluginResource } = await addPlugin(caller, { organization: organization.split('/')[2] ?? '', team });
    const administrator = new PluginAdministrator(caller);
    await administrator.deleteResource(pluginResource);
    const key = randomUUID();
    expect((await administrator.restore(pluginResource, key)).status).toBe(200);
    return { idempotency_key: key };
  },
  'template-checked': async (caller) => {
    number += 1;
    await publish(caller, `scenario-${number}`, quick);
    return { workflow_type: templateCheckWorkflow };
  },
  'undo-checked': async (caller) => {
    const { templateId, run } = await admit(caller, remembered, { variables: { a: '1' } });
    await caller.awaitRun(run.id, ['succeeded']);
    const { id } = await runToEnd(caller, { template_id: templateId, variables: { a: '2' } });
    const key = randomUUID();
    const { body } = await caller.post(`/runs/${id}/selective-undo/check`, undefined, { 'idempotency-key': key });
    const read = async () => (await caller.get(`/selective-undo/${body.id}`)).body.state;
    await expect.poll(read, { timeout: 60_000 }).toBe('ready');
    return { idempotency_key: key };
  },
  'schedule-started-by-hand': async (caller) => {
    number += 1;
    const { teamId, environmentId } = await makePlace(caller, `scenario-${number}`);
    const templateId = await publish(caller, `scenario-${number}`, quick, teamId);
    const work = { run: { template_id: templateId, environment_id: environmentId } };
    const wanted = { team_id: teamId, name: `Scenario ${number}`, schedule: { every: 'P1D' }, work };
    const { body: schedule } = await caller.post('/schedules', wanted);
    const key = randomUUID();
    await caller.post(`/schedules/${schedule.id}/trigger`, undefined, { 'idempotency-key': key });
    await expect
      .poll(async () => (await caller.get(`/schedules/${schedule.id}`)).body.last_results[0]?.outcome)
      .toBe('started');
    return { idempotency_key: key };
  },
};

/** Histories of runs that a worker begins have names of their own, beside those in which each workflow asked for its first step. */
const begun = Object.entries(ofRuns).map(([name, scenario]) => [`begun-by-worker-${name}`, scenario] as const);

/** One scenario for each path. Every later release replays their histories. */
export const scenarios: Record<string, Scenario> = { ...ofRuns, ...Object.fromEntries(begun), ...ofOthers };

/** A run of an assembly of two nodes, the second of which waits for the first. */
async function admitAssembly(caller: Caller, node: object, script = 'true') {
  number += 1;
  const place = await makePlace(caller, `scenario-${number}`);
  const template = `scenario-${number}`;
  await publish(caller, template, commands({ work: script }), place.teamId);
  const first = { template, ...node };
  const nodes = { first, second: { template, depends_on: ['first'] } };
  const path = await addAssembly({ caller, teamId: place.teamId }, `Scenario ${number}`, { nodes });
  const { body: run } = await caller.post(`${path}/runs`, { environment_id: place.environmentId });
  return { run, path: `${path}/runs/${run.id}` };
}

async function startAssembly(caller: Caller, node: object, statuses: string[], script?: string) {
  const { run, path } = await admitAssembly(caller, node, script);
  await awaitAssemblyRun(caller, path, statuses);
  return run;
}
