import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  echo,
  openAssemblyStage,
  startRun,
} from '#test/support/assembly-stage.ts';
import { ended } from '#test/support/system.ts';

/** The outputs of an instance are those of its latest state, even if the run that wrote it failed. */

const pets = {
  variables: {
    type: 'object',
    properties: { v: { type: 'string' }, bad: { type: 'string', default: 'none' }, stuck: { type: 'string' } },
  },
  outputs: { a_id: {}, hidden: {}, nothing: {} },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
variable "v" { type = string }
variable "bad" { type = string }
variable "stuck" {
  type    = string
  default = "no"
}
resource "terraform_data" "a" { triggers_replace = var.v }
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  input      = var.v
  lifecycle {
    postcondition {
      condition     = self.output != var.bad
      error_message = "this value is bad"
    }
  }
}
resource "terraform_data" "stuck" {
  input = var.stuck
  provisioner "local-exec" {
    when    = destroy
    command = "test \${self.input} = no"
  }
}
output "a_id" { value = terraform_data.a.id }
output "hidden" {
  value     = "hidden-\${var.v}"
  sensitive = true
}
output "nothing" { value = null }
`,
    },
  },
};

let stage: AssemblyStage;
let source: string;
let reader: string;
beforeAll(async () => {
  stage = await openAssemblyStage();
  source = await addTemplate(stage, 'pets', pets);
  reader = await addTemplate(stage, 'reader', echo());
});
afterAll(() => stage?.system.close());

async function run(instance: string, rest: object = {}, template = source) {
  const { caller, environmentId } = stage;
  const body = { template_id: template, environment_id: environmentId, instance, ...rest };
  const admitted = await caller.post('/runs', body);
  expect(admitted.status, admitted.text).toBe(202);
  return caller.awaitRun(admitted.body.id, ended);
}

async function deploy(instance: string, variables: object) {
  const deployed = await run(instance, { variables });
  expect(deployed.status, JSON.stringify(deployed)).toBe('succeeded');
  const readers = { environment_ids: [stage.environmentId] };
  await stage.caller.send('PUT', `/instances/${deployed.instance_id}/readers`, readers);
  return deployed;
}

const outputsOf = async (id: string) => (await stage.caller.get(`/instances/${id}/outputs`)).body.outputs;

async function stateOf(id: string) {
  const { body } = await stage.caller.get(`/instances/${id}`);
  return (await stage.caller.get(`/instances/${id}/state-versions/${body.state_serial}/download`)).body;
}

async function upstreamOf(id: string) {
  return (await stage.caller.get(`/instances/${id}/dependencies`)).body.reads.map(
    ({ upstream }: { upstream: string }) => upstream,
  );
}

const reference = (instance: string) => ({ key: `\${instances.test/${instance}.outputs.a_id}` });

describe('after an apply that failed', () => {
  it('the outputs are those of the state that it wrote, for the instance, its readers and its dependents', async () => {
    const first = await deploy('failing', { v: '1', bad: 'none' });
    const id = first.instance_id;
    const consumer = await run('consumer', { variables: reference('failing') }, reader);
    expect(await upstreamOf(consumer.instance_id)).toEqual(['unchanged']);
    const failed = await run('failing', { variables: { v: '2', bad: '2' } });
    expect([failed.status, failed.status_reason]).toEqual(['failed', 'apply_failed']);
    const state = await stateOf(id);
    const outputs = await outputsOf(id);
    expect(outputs.a_id.value).toBe(state.outputs.a_id.value);
    expect(outputs.a_id.value).not.toBe(first.outputs.a_id.value);
    expect(outputs).toMatchObject({
      hidden: { value: null, sensitive: true },
      nothing: { value: null, sensitive: false },
    });
    await expect
      .poll(async () => (await stage.caller.get(`/instances/${consumer.instance_id}`)).body.inputs_changed)
      .toBe(true);
    expect(await upstreamOf(consumer.instance_id)).toEqual(['changed']);
    const again = await run('consumer', { variables: reference('failing') }, reader);
    expect(again.outputs.all.value.key).toBe(outputs.a_id.value);
  });

  it('a refresh stores the present outputs', async () => {
    await deploy('refreshed', { v: '1', bad: 'none' });
    const refreshed = await run('refreshed', { operation: 'refresh', variables: { v: '1', bad: 'none' } });
    expect([refreshed.status, refreshed.outputs]).toEqual(['succeeded', await outputsOf(refreshed.instance_id)]);
    expect(refreshed.outputs.a_id.value).not.toBeNull();
  });

  it('an assembly run without the node uses the outputs of the state', async () => {
    const assembly = await addAssembly(stage, 'lending', {
      variables: { type: 'object', properties: { v: { type: 'string' }, bad: { type: 'string' } } },
      nodes: {
        net: { instance: 'lent', template: 'pets', variables: { v: '${variables.v}', bad: '${variables.bad}' } },
        app: { template: 'reader', variables: { key: '${nodes.net.outputs.a_id}' } },
      },
      outputs: { key: '${nodes.app.outputs.all}' },
    });
    const path = async (variables: object, rest: object, statuses: string[]) => {
      const started = await startRun(stage, assembly, { variables, ...rest });
      return awaitAssemblyRun(stage.caller, started.path, statuses);
    };
    await path({ v: '1', bad: 'none' }, {}, ['succeeded']);
    await path({ v: '2', bad: '2' }, {}, ['failed']);
    const ran = await path({ v: '2', bad: '2' }, { only: ['app'] }, ['succeeded']);
    const { body } = await stage.caller.get('/instances?limit=100');
    const net = body.instances.find(({ name }: { name: string }) => name === 'lent');
    expect(ran.outputs.key.value.key).toBe((await stateOf(net.id)).outputs.a_id.value);
  });
});

describe('after a destroy that failed', () => {
  it('the destroyed outputs no longer exist, and no run can read them', async () => {
    const { instance_id: id } = await deploy('destroyed', { v: '1', bad: 'none', stuck: 'yes' });
    const consumer = await run('orphan', { variables: reference('destroyed') }, reader);
    const failed = await run('destroyed', { operation: 'destroy', despite_dependents: true });
    expect(failed.status, JSON.stringify(failed)).toBe('failed');
    expect([(await stateOf(id)).outputs, await outputsOf(id)]).toEqual([{}, {}]);
    expect(await upstreamOf(consumer.instance_id)).toEqual(['missing']);
    const body = { template_id: reader, environment_id: stage.environmentId, variables: reference('destroyed') };
    const refused = await stage.caller.post('/runs', body);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([422, 'reference_unresolved']);
    const page = await stage.caller.get(`/instances/${id}`);
    expect(page.body.unrecorded_since.run_id).toBe(failed.id);
  });
});
