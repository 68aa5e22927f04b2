import { afterAll, describe, expect, it } from 'vitest';
import { readStateFile } from '#domain/instances/state-file/state-file.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { maskAddresses } from '#executors/redaction/masked-addresses.ts';
import { makeWorkRoot, requireTools } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

/** The configuration does not mark the value as a secret. Two keys differ only in it. */
const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf': `
variable "key" { type = string }
variable "other" { type = string }
resource "terraform_data" "one" { for_each = toset([var.key, var.other, "open"]) }
data "terraform_remote_state" "none" {
  backend  = "local"
  config   = { path = "\${path.module}/empty.tfstate" }
}
module "in" {
  source   = "./in"
  for_each = toset(["pre-\${var.key}"])
}
`,
    'in/main.tf': 'resource "terraform_data" "two" {}\n',
    'empty.tfstate': '{"version":4,"serial":1,"lineage":"x","outputs":{},"resources":[]}',
  },
};
const variables = { key: 'hunter2-"key"', other: 'hunter2-"other"' };
const changes = { executor, variables, sensitiveVariables: Object.keys(variables) };

describe.each(await requireTools())('a state that $name $version writes with secrets as keys', (tool) => {
  it('is sent with different masked addresses', async () => {
    const { plan, apply } = useTool(work.path, tool);
    const planned = await plan(changes);
    expect(JSON.stringify(planned.plan.changes)).not.toContain('hunter2');
    const { sink, result } = await apply(planned.plan, changes);
    expect(result.outcome, JSON.stringify(result)).toBe('succeeded');
    const { content, meta } = sink.states.at(-1) ?? expect.fail('no state was saved');
    expect(JSON.stringify(meta)).not.toContain('hunter2');
    expect(readStateFile(content).resources.map(({ address }) => address)).toContain(
      'terraform_data.one["hunter2-\\"key\\""]',
    );
    const { resources } = readStateFile(content, meta.maskedAddresses);
    expect(resources.map(({ address, module }) => [address, module])).toEqual(
      expect.arrayContaining([
        ['terraform_data.one["[redacted]"]', null],
        ['terraform_data.one["[redacted]"] (2)', null],
        ['terraform_data.one["open"]', null],
        ['module.in["pre-[redacted]"].terraform_data.two', 'module.in["pre-[redacted]"]'],
      ]),
    );
    expect(resources).toHaveLength(4);
  });
});

describe('the addresses of a state', () => {
  const resource = (address: string) => ({ address, module: null, type: 'vm', name: 'x', provider: null });

  it('are masked by place, and never become an address that another resource has', () => {
    const redactor = new Redactor();
    redactor.learn('hunter2');
    const all = ['vm.x["hunter2"]', 'vm.x["[redacted]"]', 'vm.y', 'vm.x["[redacted]"] (2)'].map(resource);
    expect(maskAddresses(all, redactor)).toEqual({ 0: { address: 'vm.x["[redacted]"] (3)' } });
  });

  it('are not masked if no secret is known', () => {
    expect(maskAddresses([resource('vm.x')], new Redactor())).toEqual({});
  });
});
