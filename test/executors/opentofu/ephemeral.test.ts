import { afterAll, describe, expect, it } from 'vitest';
import { unpackArtifact } from '#executors/attempt/artifact.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

const value = 'only-while-it-runs';
const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf': `
variable "token" {
  type      = string
  ephemeral = true
}
variable "endpoint" {
  type      = object({ host = string, ports = optional(list(number), [80]) })
  ephemeral = true
}
variable "unset" {
  type      = string
  default   = null
  ephemeral = true
}
variable "tags" { type = map(number) }
variable "region" { default = "north" }
module "child" {
  source   = "./child"
  token    = var.token
  endpoint = var.endpoint.host
}
resource "terraform_data" "x" {
  input = var.tags
  provisioner "local-exec" {
    command     = "test -n $TOKEN"
    environment = { TOKEN = module.child.pair }
  }
}
output "tags" { value = terraform_data.x.output }
`,
    'child/main.tf': `
variable "token" { ephemeral = true }
variable "endpoint" { ephemeral = true }
output "pair" {
  value     = "\${var.endpoint}:\${var.token}"
  ephemeral = true
}
`,
  },
};
const variables = { token: value, endpoint: { host: 'db.internal' }, tags: { a: 1, b: 2.5 } };

describe.each(await requireTools())('an ephemeral variable of $name $version', (tool) => {
  const { plan, apply } = useTool(work.path, tool);
  const request = { executor, variables };

  it('is passed again to the apply, and is in no plan, artifact, state or log', async () => {
    const planned = await plan(request);
    const { files } = unpackArtifact(planned.plan.artifact, planned.plan.digest);
    expect(JSON.parse(String(files.get('variables')))).toEqual({ tags: variables.tags });
    expect(JSON.parse(String(files.get('ephemeral')))).toEqual(['endpoint', 'token']);
    const applied = await apply(planned.plan, request);
    expect(applied.result, applied.sink.text()).toMatchObject({
      outcome: 'succeeded',
      outputs: { tags: { value: variables.tags } },
    });
    const everything = [planned.plan.artifact, JSON.stringify(applied.result), applied.sink.text()];
    const states = applied.sink.states.map(({ content }) => content);
    for (const each of [...everything, ...states]) expect(String(each)).not.toContain(value);
  });

  it('has its value at the apply, while other variables keep their value at the plan', async () => {
    const { plan: planned } = await plan(request);
    const other = { ...variables, token: 'issued-afresh', tags: { a: 9 } };
    const { result, sink } = await apply(planned, { executor, variables: other });
    expect(result, sink.text()).toMatchObject({
      outcome: 'succeeded',
      outputs: { tags: { value: variables.tags } },
    });
  });

  it("makes the apply fail with the tool's message if it is missing", async () => {
    const { plan: planned } = await plan(request);
    const { result } = await apply(planned, { executor, variables: { tags: variables.tags } });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'apply_failed' });
    expect(result.message).toMatch(/No value for required variable/);
  });
});
