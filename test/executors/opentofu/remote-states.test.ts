import { afterAll, describe, expect, it } from 'vitest';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

const hidden = 'password-of-another-instance';
const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf': `
data "terraform_remote_state" "network" {
  backend   = "s3"
  workspace = "production"
  config = {
    bucket = "nowhere"
    key    = "network"
    region = "eu-west-1"
  }
}
resource "terraform_data" "subnet" {
  for_each = data.terraform_remote_state.network.outputs.subnets
  input    = "\${each.key} \${data.terraform_remote_state.network.outputs.password}"
}
output "port" { value = data.terraform_remote_state.network.outputs.port }
output "subnets" { value = keys(terraform_data.subnet) }
`,
  },
};
const state = {
  version: 4,
  terraform_version: '1.0.0',
  serial: 1,
  lineage: 'a',
  outputs: {
    subnets: { value: ['a', 'b'], type: ['set', 'string'] },
    port: { value: 8080, type: 'number' },
    password: { value: hidden, type: 'string', sensitive: true },
  },
  resources: [],
};

describe.each(await requireTools())('a remote state of $name $version', (tool) => {
  const { plan, apply } = useTool(work.path, tool);
  const request = { executor, remoteStates: { network: JSON.stringify(state) } };

  it("has the outputs that the run's request contains, whatever its backend, and its secrets are redacted", async () => {
    const planned = await plan(request);
    expect(planned.plan.summary.add, planned.sink.text()).toBe(2);
    const applied = await apply(planned.plan, request);
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(applied.result.outputs).toMatchObject({ port: { value: 8080 }, subnets: { value: ['a', 'b'] } });
    const { artifact: _, ...shown } = planned.plan;
    expect(JSON.stringify(shown) + planned.sink.text() + applied.sink.text()).not.toContain(hidden);
  });
});
