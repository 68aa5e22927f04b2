import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  awaitNode,
  echo,
  openAssemblyStage,
  publishSpec,
  readNodes,
  readStory,
  startRun,
} from '#test/support/assembly-stage.ts';

let stage: AssemblyStage;
beforeAll(async () => {
  stage = await openAssemblyStage({ WORKER_CONCURRENCY: '4' });
  await addTemplate(stage, 'echo', echo());
  await addTemplate(stage, 'broken', echo('exit 3'));
  await addTemplate(stage, 'slow', echo('sleep 30'));
});
afterAll(async () => {
  await stage?.system.close();
});

describe('an assembly run', () => {
  it('a node that fails stops only its dependents, and a resume continues from there', async () => {
    const { caller } = stage;
    const nodes = {
      first: { template: 'echo', instance: 'h-first' },
      bad: { template: 'broken', instance: 'h-bad', depends_on: ['first'] },
      behind: { template: 'echo', instance: 'h-behind', depends_on: ['bad'] },
      beside: { template: 'echo', instance: 'h-beside', depends_on: ['first'] },
    };
    const assembly = await addAssembly(stage, 'Halfway', { nodes });
    const { path } = await startRun(stage, assembly);
    expect(await awaitAssemblyRun(caller, path)).toMatchObject({
      status: 'failed',
      status_reason: 'nodes_failed',
      status_detail: { message: expect.stringMatching(/^"bad": step ".+" ended with exit code 3$/), source: 'service' },
      nodes: { first: 'succeeded', bad: 'failed', behind: 'skipped', beside: 'succeeded' },
      actions: [
        { name: 'cancel', allowed: false },
        { name: 'resume', allowed: true, reason: null },
      ],
    });
    const before = await readNodes(caller, path);
    expect(before['bad'].status_detail).toMatchObject({
      message: expect.stringMatching(/exit code 3$/),
      source: 'tool',
    });
    expect(before['first'].status_detail).toBeNull();
    expect(before['behind'].reason).toMatchObject({ code: 'dependency_failed' });
    const resumed = await caller.post(`${path}/resume`, {}, { 'idempotency-key': randomUUID() });
    expect([resumed.status, resumed.body?.id], resumed.text).toEqual([202, path.split('/').at(-1)]);
    await awaitAssemblyRun(caller, path);
    const after = await readNodes(caller, path);
    expect(after['first'].run_id).toBe(before['first'].run_id);
    expect(after['bad'].run_id).not.toBe(before['bad'].run_id);
    expect((await readStory(caller, path)).filter((event) => event === 'node_started bad')).toHaveLength(2);
  });

  it('a node with a retry rule is tried again after a pause, with a new run and an event', async () => {
    const { caller } = stage;
    const flaky = { template: 'broken', instance: 'r-flaky', retry: { attempts: 2, backoff: 'PT1S' } };
    const assembly = await addAssembly(stage, 'Flaky', { nodes: { flaky } });
    const { path } = await startRun(stage, assembly);
    expect((await awaitAssemblyRun(caller, path)).status).toBe('failed');
    expect((await readNodes(caller, path))['flaky'].attempts).toBe(2);
    expect(await readStory(caller, path)).toEqual([
      'admitted',
      'started',
      'node_started flaky',
      'node_retried flaky',
      'node_started flaky',
      'node_ended flaky',
      'finished',
    ]);
  });

  it('cancelling an assembly run cancels the runs of its nodes', async () => {
    const { caller } = stage;
    const nodes = {
      slow: { template: 'slow', instance: 'c-slow' },
      later: { template: 'echo', instance: 'c-later', depends_on: ['slow'] },
    };
    const assembly = await addAssembly(stage, 'Slow', { nodes });
    const { path } = await startRun(stage, assembly);
    const { run_id: runId } = await awaitNode(caller, path, 'slow', ['running']);
    const canceled = await caller.post(`${path}/cancel`, { reason: 'wrong place' });
    expect(canceled.status, canceled.text).toBe(202);
    expect(await awaitAssemblyRun(caller, path)).toMatchObject({
      status: 'canceled',
      cancel_reason: 'wrong place',
      nodes: { slow: 'canceled', later: 'canceled' },
    });
    expect((await caller.get(`/runs/${runId}`)).body.status).toBe('canceled');
    expect((await caller.post(`${path}/cancel`)).headers.get('x-error-code')).toBe('assembly_run_not_cancelable');
  });

  it('a node that takes longer than its timeout ends as timed out', async () => {
    const { caller } = stage;
    const late = { template: 'slow', instance: 't-late', timeout: 'PT2S' };
    const assembly = await addAssembly(stage, 'Late', { nodes: { late } });
    const { path } = await startRun(stage, assembly);
    expect(await awaitAssemblyRun(caller, path)).toMatchObject({ status: 'timed_out', nodes: { late: 'timed_out' } });
  });

  it('a destroy goes in reverse over what is deployed, whatever later versions say', async () => {
    const { caller, environmentId } = stage;
    const base = { template: 'echo', instance: 'd-base' };
    const top = { template: 'echo', instance: 'd-top', variables: { of: '${nodes.base.outputs.all}' } };
    const no = { template: 'echo', instance: 'd-no', when: 'variables.wanted' };
    const variables = { type: 'object', properties: { wanted: { type: 'boolean', default: false } } };
    const assembly = await addAssembly(stage, 'Destroyed', { variables, nodes: { base, top, no } });
    const request = { environment_id: environmentId, operation: 'destroy' };
    const nothing = await caller.post(`${assembly}/runs`, request);
    expect([nothing.status, nothing.headers.get('x-error-code')]).toEqual([409, 'nothing_deployed']);
    await awaitAssemblyRun(caller, (await startRun(stage, assembly)).path);
    await publishSpec(caller, assembly, '2.0.0', { nodes: { base } });
    const stranding = await caller.post(`${assembly}/runs`, { ...request, only: ['base'] });
    expect(stranding.body.error).toContain('"top" is deployed and depends on "base"');
    const { path } = await startRun(stage, assembly, { operation: 'destroy' });
    const run = await awaitAssemblyRun(caller, path);
    expect(run).toMatchObject({ status: 'succeeded', nodes: { base: 'succeeded', top: 'succeeded' } });
    const story = await readStory(caller, path);
    expect(story.indexOf('node_ended top')).toBeLessThan(story.indexOf('node_started base'));
  });

  it('a plan shows all nodes with what is deployed, and skips those whose inputs nothing has made yet', async () => {
    const { caller } = stage;
    const nodes = {
      a: { template: 'echo', instance: 'p-a' },
      b: { template: 'echo', instance: 'p-b', variables: { of: '${nodes.a.outputs.all}' } },
    };
    const assembly = await addAssembly(stage, 'Planned', { nodes });
    const first = await startRun(stage, assembly, { operation: 'plan' });
    expect((await awaitAssemblyRun(caller, first.path)).nodes).toEqual({ a: 'succeeded', b: 'skipped' });
    expect((await readNodes(caller, first.path))['b'].reason.message).toContain('nodes.a.outputs.all');
    await awaitAssemblyRun(caller, (await startRun(stage, assembly)).path);
    const second = await startRun(stage, assembly, { operation: 'plan' });
    expect((await awaitAssemblyRun(caller, second.path)).nodes).toEqual({ a: 'succeeded', b: 'succeeded' });
  });

  it('a run of selected nodes uses the recorded outputs of the others', async () => {
    const { caller, environmentId } = stage;
    const nodes = {
      a: { template: 'echo', instance: 'o-a', variables: { mark: 'kept' } },
      b: { template: 'echo', instance: 'o-b', variables: { of: '${nodes.a.outputs.all.mark}' } },
    };
    const assembly = await addAssembly(stage, 'Chosen', { nodes });
    const request = { environment_id: environmentId, only: ['b'] };
    expect((await caller.post(`${assembly}/runs`, request)).headers.get('x-error-code')).toBe('node_not_deployed');
    const unknown = await caller.post(`${assembly}/runs`, { ...request, only: ['x'] });
    expect(unknown.body.error).toContain('the nodes are "a", "b"');
    await awaitAssemblyRun(caller, (await startRun(stage, assembly)).path);
    const { path } = await startRun(stage, assembly, { only: ['b'] });
    expect((await awaitAssemblyRun(caller, path)).nodes).toEqual({ a: 'skipped', b: 'succeeded' });
    const { run_id: runId } = (await readNodes(caller, path))['b'];
    expect((await caller.get(`/runs/${runId}`)).body.outputs.all.value).toEqual({ of: 'kept' });
  });

  it('a destroy includes an instance that a node deployed under an earlier name', async () => {
    const { caller } = stage;
    const moved = (instance: string) => ({ nodes: { app: { template: 'echo', instance } } });
    const assembly = await addAssembly(stage, 'Moved', moved('m-old'));
    await awaitAssemblyRun(caller, (await startRun(stage, assembly)).path);
    await publishSpec(caller, assembly, '2.0.0', moved('m-new'));
    await awaitAssemblyRun(caller, (await startRun(stage, assembly)).path);
    const { path } = await startRun(stage, assembly, { operation: 'destroy' });
    const run = await awaitAssemblyRun(caller, path);
    expect(run.nodes).toEqual({ app: 'succeeded', 'app-m-old': 'succeeded' });
  });

  it('the outputs of a module without resources are passed on to other nodes', async () => {
    const { caller } = stage;
    const names = { executor: { kind: 'opentofu', files: { 'main.tf': 'output "name" { value = "shop" }' } } };
    await addTemplate(stage, 'names', { ...names, outputs: { name: {} } });
    const nodes = {
      names: { template: 'names', instance: 'n-names' },
      app: { template: 'echo', instance: 'n-app', variables: { name: '${nodes.names.outputs.name}' } },
    };
    const { path } = await startRun(stage, await addAssembly(stage, 'Named', { nodes }));
    expect((await awaitAssemblyRun(caller, path)).nodes).toEqual({ names: 'succeeded', app: 'succeeded' });
    const { app } = await readNodes(caller, path);
    expect((await caller.get(`/runs/${app.run_id}`)).body.outputs.all.value).toEqual({ name: 'shop' });
  });
});
