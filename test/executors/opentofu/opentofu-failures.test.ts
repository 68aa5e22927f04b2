import { afterAll, describe, expect, it } from 'vitest';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, RecordingSink, requireTools, run } from '../support.ts';
import { executor, useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

describe.each(tools)('an unusual or failing configuration with $name $version', ({ name, version }) => {
  const { request, plan, apply } = useTool(work.path, { name, version });

  it("reports the tool's error message", async () => {
    const broken: OpenTofuExecutor = {
      kind: 'opentofu',
      files: { 'main.tf': 'resource "terraform_data" "x" { input = nope.there }' },
    };
    const { result } = await run(request({ phase: 'plan', executor: broken }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'plan_failed', exitCode: 1 });
    expect(result.message).toMatch(/undeclared resource/);
    const unparsable: OpenTofuExecutor = { kind: 'opentofu', files: { 'main.tf': 'resource {' } };
    expect((await run(request({ phase: 'plan', executor: unparsable }))).result).toMatchObject({
      reason: 'init_failed',
    });
  });

  it('works in a directory below the root, with modules from the same source', async () => {
    const nested: OpenTofuExecutor = {
      kind: 'opentofu',
      directory: 'environments/test',
      files: {
        'modules/thing/main.tf':
          'variable "size" {}\nresource "terraform_data" "x" { input = var.size }\noutput "size" { value = terraform_data.x.output }',
        'environments/test/main.tf':
          'variable "size" {}\nmodule "thing" {\n  source = "../../modules/thing"\n  size = var.size\n}\noutput "size" { value = module.thing.size }',
      },
    };
    const planned = await plan({ executor: nested });
    expect(planned.plan.changes).toMatchObject([{ address: 'module.thing.terraform_data.x' }]);
    const { result } = await apply(planned.plan, { executor: nested });
    expect(result).toMatchObject({ outcome: 'succeeded', outputs: { size: { value: 3 } } });
  });

  it('keeps the state of earlier resources when a resource fails', async () => {
    const failing: OpenTofuExecutor = {
      kind: 'opentofu',
      files: {
        'main.tf': `resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "echo broken >&2; exit 7" }
}`,
      },
    };
    const { plan: planned } = await plan({ executor: failing, variables: {} });
    const { result, sink } = await apply(planned, { executor: failing, variables: {} });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'apply_failed', exitCode: 1 });
    expect(sink.states.at(-1)?.content.toString()).toContain('"first"');
  });

  it('stops in order when it is canceled, and keeps the state of earlier resources', async () => {
    const slow: OpenTofuExecutor = {
      kind: 'opentofu',
      files: {
        'main.tf': `resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "echo now-waiting; sleep 60" }
}`,
      },
    };
    const { plan: planned } = await plan({ executor: slow, variables: {} });
    const abort = new AbortController();
    const sink = new RecordingSink();
    const running = run(
      request({ executor: slow, variables: {}, artifact: planned.artifact, graceMs: 20_000 }),
      sink,
      abort.signal,
    );
    await sink.saw('now-waiting');
    abort.abort();
    const { result } = await running;
    expect(result).toMatchObject({ outcome: 'canceled', reason: 'canceled' });
    expect(sink.states.at(-1)?.content.toString()).toContain('"first"');
  });
});

const openTofu = tools.find(({ name }) => name === 'opentofu');
describe.skipIf(openTofu === undefined)('features of OpenTofu only', () => {
  const tool = openTofu ?? null;
  it('a configuration chooses modules by variables, and encrypts its state but still has outputs', async () => {
    const encrypted: OpenTofuExecutor = {
      kind: 'opentofu',
      files: {
        'a/main.tf':
          'resource "terraform_data" "a" { input = "from-a" }\noutput "o" { value = terraform_data.a.output }',
        'main.tf': `variable "which" {}
variable "passphrase" {}
terraform {
  encryption {
    key_provider "pbkdf2" "k" { passphrase = var.passphrase }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
    state { method = method.aes_gcm.m }
  }
}
module "chosen" { source = "./\${var.which}" }
output "o" { value = module.chosen.o }`,
      },
    };
    const variables = { which: 'a', passphrase: 'a-long-passphrase-of-the-state' };
    const changes = { workRoot: work.path, executor: encrypted, tool, variables, sensitiveVariables: ['passphrase'] };
    const planned = await run(makeRequest({ ...changes, phase: 'plan' }));
    expect(planned.result.plan, planned.sink.text()).toMatchObject({ summary: { add: 1 } });
    const { result, sink } = await run(makeRequest({ ...changes, artifact: planned.result.plan?.artifact ?? null }));
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded', outputs: { o: { value: 'from-a' } } });
    expect(sink.states.at(-1)?.content.toString()).not.toContain('from-a');
  });
});

it('a missing tool fails the attempt instead of being replaced by another tool', async () => {
  const tool = { name: 'terraform' as const, version: '0.0.1' };
  const { result } = await run(makeRequest({ executor, workRoot: work.path, tool }));
  expect(result).toMatchObject({
    outcome: 'failed',
    reason: 'tool_unavailable',
    message: 'this worker has no terraform 0.0.1',
  });
});
