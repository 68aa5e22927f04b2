import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

/** One managed resource, three more by count and for_each, and a data source. */
const files = {
  'main.tf': `
variable "names" { type = set(string) }
variable "token" {
  type      = string
  sensitive = true
  default   = "hunter2-of-the-state"
}
resource "terraform_data" "one" { input = var.token }
resource "terraform_data" "each" {
  for_each = var.names
  input    = each.key
}
resource "terraform_data" "counted" {
  count = 1
  input = data.terraform_remote_state.none.defaults.size
}
data "terraform_remote_state" "none" {
  backend  = "local"
  config   = { path = "\${path.module}/empty.tfstate" }
  defaults = { size = 1 }
}
`,
  'empty.tfstate': '{"version":4,"serial":1,"lineage":"x","outputs":{},"resources":[]}',
};
const spec = {
  variables: {
    type: 'object',
    properties: { names: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] } },
  },
  executor: { kind: 'opentofu', files },
};

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

/** Every place that says how many resources an instance holds, and their addresses. */
async function countsOf(instanceId: string) {
  const { administrator } = system;
  const [instance, versions, listed] = await Promise.all([
    administrator.get(`/instances/${instanceId}`),
    administrator.get(`/instances/${instanceId}/state-versions`),
    administrator.get(`/instances/${instanceId}/resources`),
  ]);
  expect(listed.status, listed.text).toBe(200);
  expect(listed.text).not.toContain('hunter2');
  return {
    instance: instance.body.resource_count,
    version: versions.body.state_versions[0]?.resource_count ?? null,
    listed: listed.body.resources.map(({ address }: { address: string }) => address),
  };
}

describe('what OpenTofu has deployed', () => {
  it('has the same count in the plan, the instance, its state version and its list of resources', async () => {
    const template_id = await publish(system.administrator, 'counted', spec);
    const request = { template_id, instance: 'main' };
    const run = await runToEnd(system.administrator, request);
    expect(run).toMatchObject({ status: 'succeeded', plan: { summary: { add: 4, change: 0, destroy: 0 } } });
    expect(await countsOf(run.instance_id)).toEqual({
      instance: 4,
      version: 4,
      listed: [
        'terraform_data.counted[0]',
        'terraform_data.each["a"]',
        'terraform_data.each["b"]',
        'terraform_data.one',
      ],
    });
    const fewer = await runToEnd(system.administrator, { ...request, variables: { names: ['b'] } });
    expect(fewer.plan.summary).toMatchObject({ add: 0, change: 0, destroy: 1 });
    expect(await countsOf(run.instance_id)).toEqual({
      instance: 3,
      version: 3,
      listed: ['terraform_data.counted[0]', 'terraform_data.each["b"]', 'terraform_data.one'],
    });
    const typed = await system.administrator.get('/resources?type=terraform_data&q=EACH');
    expect(typed.body.resources).toMatchObject([
      { provider: 'terraform.io/builtin/terraform', instance: 'main', instance_id: run.instance_id },
    ]);
    await runToEnd(system.administrator, { ...request, operation: 'destroy' });
    expect(await countsOf(run.instance_id)).toEqual({ instance: 0, version: 0, listed: [] });
    expect((await system.administrator.send('DELETE', `/instances/${run.instance_id}`)).status).toBe(204);
  });
});

describe('what a command has deployed', () => {
  it.each([
    ['without a state', 'true', 'true', null, null],
    ['with a state of its own', `echo '{"id":1}' > state.json`, 'rm state.json', 1, 0],
  ])('%s is counted as one resource until it is destroyed', async (name, apply, destroy, version, versionAfter) => {
    const steps = [{ name: 'destroy', run: ['sh', '-c', destroy] }];
    const template_id = await publish(
      system.administrator,
      name.replaceAll(' ', '-'),
      commands({ apply }, { destroy: steps }),
    );
    const run = await runToEnd(system.administrator, { template_id, instance: 'app' });
    expect(await countsOf(run.instance_id)).toEqual({ instance: 1, version, listed: ['command.app'] });
    const destroyed = await runToEnd(system.administrator, { template_id, instance: 'app', operation: 'destroy' });
    expect(destroyed.status).toBe('succeeded');
    expect(await countsOf(run.instance_id)).toEqual({ instance: 0, version: versionAfter, listed: [] });
  });
});
