import { afterAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { packArtifact, sha256, unpackArtifact } from '#executors/attempt/artifact.ts';
import { readPlan } from '#executors/opentofu/plan-json/plan.ts';
import { encodeFrame } from '#executors/protocol/frames.ts';
import { makeWorkRoot, requireTools, run } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const files = (main: string) =>
  ({ executor: { kind: 'opentofu', files: { 'main.tf': main } }, variables: {} }) as const;
const output = (name: string, body: string) => `output "${name}" {\n  ${body}\n}\n`;
const secret = 'a-secret-that-nobody-sees';
const token = `variable "token" {\n  type = string\n  default = "${secret}"\n  sensitive = true\n}\n`;
const failing = (message: string) =>
  `locals {\n  healthy = false\n}\ncheck "health" {\n  assert {\n    condition = local.healthy\n    error_message = "${message}"\n  }\n}\n`;

const warned = 'Quoted references are deprecated';
const warning = 'resource "terraform_data" "warned" {\n  lifecycle {\n    ignore_changes = ["input"]\n  }\n}\n';

describe.each(tools)('a plan by $name $version', ({ name, version }) => {
  const { plan, apply, deploy, request } = useTool(work.path, { name, version });

  it('shows a change of outputs alone with both sides, counts it, and is applied as any change', async () => {
    const before = `${output('kept', 'value = 1')}${output('size', 'value = 9007199254740993')}${output('gone', 'value = true')}`;
    const after = `${output('kept', 'value = 1')}${output('size', 'value = 9007199254740992')}${output('new', 'value = ["a"]')}`;
    const { state } = await deploy(files(before));
    const { plan: planned, sink } = await plan({ ...files(after), state });
    expect(planned).toMatchObject({ hasChanges: true, changes: [], summary: { add: 0, change: 0, outputs: 3 } });
    expect(JSON.parse(JSON.stringify(planned.sections.outputs.map(({ name: each }) => each)))).toEqual([
      'gone',
      'new',
      'size',
    ]);
    const [gone, added, size] = planned.sections.outputs;
    expect(gone).toEqual({ name: 'gone', action: 'delete', before: true, after: null, sensitive: false });
    expect(added).toEqual({ name: 'new', action: 'create', before: null, after: ['a'], sensitive: false });
    expect(JSON.stringify(size)).toContain('"before":9007199254740993,"after":9007199254740992');
    expect(sink.text('stdout')).toContain('Changes to Outputs:');
    const { result } = await apply(planned, { ...files(after), state });
    expect(result).toMatchObject({ outcome: 'succeeded' });
  });

  it('masks secret outputs and shows which values only the apply will know', async () => {
    const main = `${token}resource "terraform_data" "it" {}\n${output('token', 'value = var.token\n  sensitive = true')}${output('id', 'value = terraform_data.it.id')}${output('declared', 'value = "whatever"')}`;
    const { plan: planned } = await plan({ ...files(main), outputs: { declared: { sensitive: true } } });
    expect(planned.sections.outputs).toEqual([
      { name: 'declared', action: 'create', before: null, after: { sensitive: true }, sensitive: true },
      { name: 'id', action: 'create', before: null, after: { unknown: true }, sensitive: false },
      { name: 'token', action: 'create', before: null, after: { sensitive: true }, sensitive: true },
    ]);
    expect(JSON.stringify(planned.sections)).not.toContain(secret);
  });

  it('shows the name of an output that contains a secret only if the configuration has this name', async () => {
    const words = `variable "word" {\n  type = string\n  default = "after"\n  sensitive = true\n}\n`;
    const { plan: planned } = await plan(
      files(`${words}${output('size_after', 'value = 1')}${output('word', 'value = var.word\n  sensitive = true')}`),
    );
    expect(planned.sections.outputs.map(({ name: each }) => each)).toEqual(['size_after', 'word']);
    const { state } = await deploy(files(output('gone_after', 'value = 1')));
    const { plan: next } = await plan({
      ...files(`${words}${output('word', 'value = var.word\n  sensitive = true')}`),
      state,
    });
    expect(next.sections.outputs.map(({ name: each }) => each)).toEqual(['gone_[redacted]', 'word']);
  });

  it('counts an output if only its sensitivity changes', async () => {
    const { state } = await deploy(files(output('it', 'value = "same"')));
    const { plan: planned } = await plan({ ...files(output('it', 'value = "same"\n  sensitive = true')), state });
    expect(planned).toMatchObject({ hasChanges: true, changes: [], summary: { outputs: 1 } });
    expect(planned.sections.outputs).toMatchObject([{ name: 'it', action: 'update', sensitive: true }]);
  });

  it('shows the outputs that a destroy removes', async () => {
    const main = `resource "terraform_data" "it" {\n  input = 1\n}\n${output('it', 'value = terraform_data.it.input')}`;
    const { state } = await deploy(files(main));
    const { plan: planned } = await plan({ ...files(main), state, operation: 'destroy' });
    expect(planned.sections.outputs).toMatchObject([{ name: 'it', action: 'delete', before: 1, after: null }]);
    expect(planned.summary).toMatchObject({ destroy: 1, outputs: 1 });
  });

  it('shows failing checks once, and other warnings of the tool, and can be applied', async () => {
    const main = `${failing('Nobody is well.')}${warning}resource "terraform_data" "it" {\n  lifecycle {\n    postcondition {\n      condition = self.id != ""\n      error_message = "It has no id."\n    }\n  }\n}\n`;
    const { plan: planned } = await plan(files(main));
    expect(planned.sections.checks).toEqual([
      { address: 'check.health', kind: 'check', status: 'fail', problems: ['Nobody is well.'] },
      { address: 'terraform_data.it', kind: 'resource', status: 'unknown', problems: [] },
    ]);
    expect(planned.sections.diagnostics).toMatchObject([{ severity: 'warning', message: warned }]);
    expect(planned.summary).toMatchObject({ checks: 1, warnings: 1 });
    expect((await apply(planned, files(main))).result).toMatchObject({ outcome: 'succeeded' });
  });

  it('reports failing checks in a scan without reporting a difference', async () => {
    const healthy = 'resource "terraform_data" "it" {}\n';
    const { state } = await deploy(files(healthy));
    const { result } = await run(request({ ...files(healthy + failing('Nobody is well.')), state, phase: 'detect' }));
    expect(result.plan).toMatchObject({ hasChanges: false, changes: [], summary: { checks: 1, warnings: 0 } });
  });

  it('of an earlier release is applied with the digest of that release', async () => {
    const main = files(output('it', 'value = 1'));
    const { plan: planned } = await plan(main);
    const earlier = toFormat2(planned.artifact);
    const { result } = await apply(earlier, main);
    expect(result).toMatchObject({ outcome: 'succeeded', outputs: { it: { value: 1 } } });
    const other = await apply({ ...earlier, digest: planned.digest }, main);
    expect(other.result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
  });
});

/** The artifact as the release before wrote it: without what a plan holds beside its changes. */
function toFormat2(packed: Buffer) {
  const { facts, files: contents } = unpackArtifact(packed, null);
  const { sections: _, ...older } = facts;
  const sizes = [...contents].map(([path, { length }]) => ({ path, size: length }));
  const artifact = encodeFrame({ format: 2, facts: older, files: sizes }, Buffer.concat([...contents.values()]));
  const digests = Object.fromEntries([...contents].map(([path, content]) => [path, sha256(content)]));
  return { artifact, digest: sha256(canonicalJson({ format: 2, facts: older, contents: digests })) };
}

it('the digest of a plan covers the other sections besides its changes', () => {
  const facts = { kind: 'opentofu', tool: null, operation: 'apply', sources: '', modules: '', changes: [], drift: [] };
  const digestOf = (value: number) =>
    packArtifact(
      {
        ...facts,
        kind: 'opentofu',
        sections: {
          outputs: [{ name: 'it', action: 'create', before: null, after: value, sensitive: false }],
          checks: [],
          actions: [],
          deferred: [],
          diagnostics: [],
        },
      },
      new Map(),
    ).digest;
  expect(digestOf(1)).not.toBe(digestOf(2));
});

describe('the JSON of a plan', () => {
  const read = (plan: object) => readPlan(Buffer.from(JSON.stringify(plan)), { redactor: new Redactor() });
  const invocation = {
    address: 'action.web_call.hook',
    type: 'web_call',
    name: 'hook',
    config_values: { url: 'https://example.org', token: secret },
    config_sensitive: { token: true },
    config_unknown: { body: true },
    provider_name: 'example.org/x/web',
    lifecycle_action_trigger: {
      triggering_resource_address: 'terraform_data.it',
      action_trigger_event: 'AfterCreate',
      action_trigger_block_index: 0,
      actions_list_index: 0,
    },
  };
  const shown = {
    address: 'action.web_call.hook',
    type: 'web_call',
    event: 'AfterCreate',
    trigger: 'terraform_data.it',
    config: { url: 'https://example.org', token: { sensitive: true }, body: { unknown: true } },
  };

  it('has the actions that the tool invokes, without their secrets', () => {
    const { sections, hasChanges } = read({ action_invocations: [invocation] });
    expect(sections.actions).toEqual([{ ...shown, deferred: null }]);
    expect(hasChanges).toBe(true);
  });

  it('has the changes and actions that the tool defers', () => {
    const { sections } = read({
      deferred_changes: [
        {
          reason: 'resource_config_unknown',
          resource_change: {
            address: 'thing.later',
            type: 'thing',
            change: { actions: ['create'], before: null, after: { a: 1 } },
          },
        },
      ],
      deferred_action_invocations: [{ reason: 'deferred_prereq', action_invocation: invocation }],
    });
    expect(sections.deferred).toMatchObject([
      { reason: 'resource_config_unknown', change: { address: 'thing.later', action: 'create', after: { a: 1 } } },
    ]);
    expect(sections.actions).toEqual([{ ...shown, deferred: 'deferred_prereq' }]);
  });

  it('has a result for each instance of a check, and redacts its messages', () => {
    const redactor = new Redactor();
    redactor.learn(secret);
    const { sections } = readPlan(
      Buffer.from(
        JSON.stringify({
          checks: [
            {
              address: { kind: 'output_value', to_display: 'output.it' },
              status: 'fail',
              instances: [
                { address: { to_display: 'output.it' }, status: 'fail', problems: [{ message: `is ${secret}` }] },
              ],
            },
            { address: { kind: 'resource', to_display: 'thing.many' }, status: 'unknown' },
          ],
        }),
      ),
      { redactor },
    );
    expect(sections.checks).toMatchObject([
      { address: 'output.it', kind: 'output', status: 'fail' },
      { address: 'thing.many', kind: 'resource', status: 'unknown', problems: [] },
    ]);
    expect(JSON.stringify(sections.checks)).not.toContain(secret);
  });
});
