import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { RunProgress } from '#test/support/pages/assemblies/progress.ts';

/** An instance names the assembly that deployed it last, so that clients see which instances another assembly would take over. */

let stage: PageStage;
beforeAll(async () => {
  stage = await openPageStage();
});
afterAll(() => stage?.api.close());

const succeeded: RunProgress = { status: 'succeeded', minutesAgo: 30, nodes: () => ({ status: 'succeeded' }) };

/** An instance that a run outside of assemblies has deployed. */
async function deploy(name: string): Promise<{ id: string; run: string }> {
  const { tenant, api, template } = stage;
  const [{ id = '' } = {}] = await api.rows<{ id: string }>('select id from templates where slug = ?', [template]);
  const where = { template_id: id, environment_id: tenant.environment, instance: name };
  const { body, text, status } = await tenant.owner.post('/runs', { ...where, variables: { name: 'of somebody' } });
  expect(status, text).toBe(202);
  await api.rows('update instances set deployed_run_id = ?, resource_count = 1 where id = ?', [
    body.id,
    body.instance_id,
  ]);
  return { id: body.instance_id, run: body.id };
}

/** Turns the run into the run of a node, as if the assembly had deployed the instance. */
async function makeNodeRun(run: string, assembly: string): Promise<void> {
  const assemblyRun = await addRun(stage, assembly, succeeded, { variables: { name: 'shop' } });
  await stage.api.rows(
    `update runs set assembly_run_id = n.assembly_run_id, assembly_node_id = n.id from assembly_nodes n
      where runs.id = ? and n.assembly_run_id = ? and n.key = 'network'`,
    [run, assemblyRun],
  );
}

async function deployedBy(id: string, reader = stage.tenant.owner): Promise<(string | null)[]> {
  const { environment } = stage.tenant;
  const { body: listed } = await reader.get(`/instances?environment_id=${environment}&limit=200`);
  const { body: one } = await reader.get(`/instances/${id}`);
  return [one, listed.instances.find((each: { id: string }) => each.id === id)].map(
    (instance) => instance.deployed_by_assembly_id,
  );
}

test('an instance names the assembly that deployed it last', async () => {
  const { id, run } = await deploy('alone');
  expect(await deployedBy(id)).toEqual([null, null]);
  const assembly = await addAssembly(stage, threeNodes(stage.template));
  await makeNodeRun(run, assembly);
  expect(await deployedBy(id)).toEqual([assembly, assembly]);
  expect(await deployedBy(id, stage.viewer)).toEqual([assembly, assembly]);
});

test('an instance does not name the assembly if the run that deployed it belongs to another team', async () => {
  const { id, run } = await deploy('moved');
  await makeNodeRun(run, await addAssembly(stage, threeNodes(stage.template)));
  const { team } = await makeTenant(stage.api);
  await stage.api.rows('update runs set team_id = ? where id = ?', [team, run]);
  expect(await deployedBy(id)).toEqual([null, null]);
});

test('the form that runs an assembly names only instances that it did not deploy itself', async () => {
  const spec = threeNodes(stage.template);
  const nodes = { ...spec.nodes, network: { ...spec.nodes.network, instance: 'own' } };
  const assembly = await addAssembly(stage, { ...spec, nodes });
  const owner = await signInVisitor(stage.api, stage.tenant.owner);
  const form = async () =>
    (await owner.get(`/assemblies/${assembly}/run?environment_id=${stage.tenant.environment}`)).text;
  const { run } = await deploy('own');
  expect(await form()).toContain('this assembly did not deploy them');
  await makeNodeRun(run, assembly);
  expect(await form()).not.toContain('this assembly did not deploy them');
});
