import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  echo,
  openAssemblyStage,
  readNodes,
  startRun,
} from '#test/support/assembly-stage.ts';

/** A real worker deploys an instance, and a run and an assembly read its outputs. */

const large = '9007199254740993';
const hidden = 'hidden-of-the-network';
let stage: AssemblyStage;
beforeAll(async () => {
  stage = await openAssemblyStage();
});
afterAll(() => stage?.system.close());

it('runs and assembly nodes read outputs exactly and redact secret ones, follow changes, and are refused after a revocation', async () => {
  const { caller, environmentId } = stage;
  const out = `echo '{"n": ${large}, "token": "${hidden}"}' > outputs.json`;
  const giving = (script: string) => ({
    outputs: { n: {}, token: { sensitive: true } },
    executor: { kind: 'command', apply: [{ name: 'out', run: ['sh', '-c', script] }] },
  });
  const source = await addTemplate(stage, 'network', giving(out));
  const reader = await addTemplate(stage, 'reader', echo('cat variables.json'));
  const ask = async (body: object) => (await caller.post('/runs', { environment_id: environmentId, ...body })).body;
  const deployed = await caller.awaitRun((await ask({ template_id: source })).id, ['succeeded']);
  const readers = { environment_ids: [environmentId] };
  expect((await caller.send('PUT', `/instances/${deployed.instance_id}/readers`, readers)).status).toBe(200);
  const variables = {
    size: '${instances.test/network.outputs.n}',
    token: '${instances.shop/test/network.outputs.token}',
  };
  const { id } = await ask({ template_id: reader, variables });
  await caller.awaitRun(id, ['succeeded']);
  const run = await caller.get(`/runs/${id}`);
  expect(run.text).toContain(`"size":${large}`);
  expect(run.body.reads).toMatchObject([{ run_id: deployed.id }, { output: 'token', sensitive: true }]);
  const log = await caller.get(`/runs/${id}/logs`);
  expect(log.text).toContain('[redacted]');
  expect(run.text + log.text).not.toContain(hidden);

  const assembly = await addAssembly(stage, 'reading', {
    nodes: { a: { template: 'reader', variables: { ...variables, name: 'n' } } },
    outputs: { all: '${nodes.a.outputs.all}' },
  });
  const first = await startRun(stage, assembly);
  await awaitAssemblyRun(caller, first.path, ['succeeded']);
  const { a } = await readNodes(caller, first.path);
  const node = await caller.get(`/runs/${a.run_id}`);
  expect(node.text).toContain(`"size":${large}`);
  expect([node.body.variables.token, node.body.reads.length]).toEqual([{ sensitive: true }, 2]);
  expect(node.text).not.toContain(hidden);
  const direct = await caller.post(`${assembly}/runs`, { environment_id: environmentId, variables });
  expect([direct.status, direct.text]).toEqual([422, expect.stringContaining('a variable of a node')]);

  const { instance_id: follower } = run.body;
  expect((await caller.send('PUT', `/instances/${follower}/follow`, { enabled: true })).status).toBe(200);
  const spec = giving(out.replace(large, '9007199254740995'));
  await caller.post(`/registry/templates/${source}/versions`, { version: '1.1.0', spec });
  const changing = await caller.awaitRun((await ask({ template_id: source })).id, ['succeeded']);
  const started = async () => (await caller.get(`/runs?scope=readable&started_by_run_id=${changing.id}`)).body.runs;
  await expect.poll(started, { timeout: 60_000 }).toMatchObject([{ instance_id: follower }]);
  const [{ id: followed }] = await started();
  await caller.awaitRun(followed, ['succeeded']);
  expect((await caller.get(`/runs/${followed}`)).text).toContain('"size":9007199254740995');

  await caller.send('PUT', `/instances/${deployed.instance_id}/readers`, {});
  const second = await startRun(stage, assembly);
  await awaitAssemblyRun(caller, second.path, ['failed']);
  expect((await readNodes(caller, second.path))['a'].reason.message).toContain('may read');
});
