import { afterAll, describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run } from '../support.ts';
import { executor, loggedCommands, main, useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

describe.each(tools)('the executor with $name $version', ({ name, version }) => {
  const tool = { name, version };
  const { request, plan, apply, deploy } = useTool(work.path, tool);

  it('plans without changing anything, and returns the planned changes', async () => {
    const { result, sink, plan: planned } = await plan();
    expect(result).toMatchObject({ outcome: 'succeeded', reason: null, tool });
    expect(planned).toMatchObject({ hasChanges: true, assumed: false, summary: { add: 2, change: 0, destroy: 0 } });
    expect(planned.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(planned.changes.map(({ address, action }) => [address, action])).toEqual([
      ['terraform_data.machine', 'create'],
      ['terraform_data.network', 'create'],
    ]);
    expect(planned.changes[1]).toMatchObject({
      type: 'terraform_data',
      before: null,
      after: { input: 3, id: { unknown: true }, output: { unknown: true } },
    });
    expect(sink.states).toEqual([]);
    expect(sink.text('stdout')).toContain('terraform_data.network will be created');
    expect(loggedCommands(sink)).toEqual(['init', 'plan']);
  });

  it('applies exactly the plan, in another directory, with the variables of the plan', async () => {
    const { plan: planned } = await plan();
    const { result, sink } = await apply(planned, { workRoot: `${work.path}-elsewhere`, variables: { size: 99 } });
    expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0, resourceCount: 2, tool });
    expect(result.outputs).toEqual({
      size: { value: 3, sensitive: false },
      token: { value: 'none-at-all', sensitive: true },
    });
    expect(sink.states.at(-1)?.meta).toMatchObject({
      write: sink.states.length,
      resourceCount: 2,
      lineage: expect.any(String),
    });
    expect(loggedCommands(sink)).toEqual(['init', 'apply']);
  });

  it("does not pass its garbage collector settings to the template's programs", async () => {
    const act = 'resource "terraform_data" "act" {\n  provisioner "local-exec" {\n    command = "env"\n  }\n}\n';
    const acting = { executor: { kind: 'opentofu', files: { 'main.tf': act } } } as const;
    const { result, sink } = await apply((await plan(acting)).plan, acting);
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(sink.text()).toContain('TF_IN_AUTOMATION=1');
    expect(sink.text()).not.toContain('GOGC');
  });

  it('updates, replaces by address, finds no changes, refreshes and destroys, each from the previous state', async () => {
    const { state, result: deployed } = await deploy();
    const unchanged = await plan({ state });
    // The apply ends with it, and an interrupted one before may have told nobody its outputs.
    expect(unchanged.result.outputs).toEqual(deployed.outputs);
    expect(unchanged.plan).toMatchObject({
      hasChanges: false,
      changes: [],
      summary: { add: 0, change: 0, destroy: 0 },
    });

    const updated = await plan({ state, variables: { size: 4 } });
    expect(updated.plan.summary).toMatchObject({ add: 1, change: 1, destroy: 1 });
    expect(updated.plan.changes.map(({ address, action }) => [address, action])).toEqual([
      ['terraform_data.machine', 'replace'],
      ['terraform_data.network', 'update'],
    ]);
    expect(updated.plan.changes[1]).toMatchObject({ before: { input: 3 }, after: { input: 4 } });

    const replaced = await plan({ state, replace: ['terraform_data.network'] });
    expect(replaced.plan.changes).toMatchObject([{ address: 'terraform_data.network', action: 'replace' }]);

    const refreshed = await plan({ state, operation: 'refresh' });
    expect(refreshed.plan).toMatchObject({ hasChanges: false, changes: [] });

    const destroying = await plan({ state, operation: 'destroy' });
    expect(destroying.plan.summary).toMatchObject({ add: 0, change: 0, destroy: 2 });
    const { result, sink } = await apply(destroying.plan, { state, operation: 'destroy' });
    expect(result).toMatchObject({ outcome: 'succeeded', resourceCount: 0, outputs: {} });
    expect(JSON.parse(sink.states.at(-1)?.content.toString() ?? '')).toMatchObject({ resources: [] });
  });

  it('applies a plan that only refreshes', async () => {
    const { state } = await deploy();
    const refreshed = await plan({ state, operation: 'refresh' });
    const { result } = await apply(refreshed.plan, { state, operation: 'refresh' });
    expect(result).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
  });

  it('detects drift and returns nothing that could be applied', async () => {
    const { state } = await deploy();
    const { result, sink } = await run(request({ phase: 'detect', state, variables: { size: 5 } }));
    expect(result.plan).toMatchObject({ hasChanges: true });
    expect(result.plan?.artifact).toHaveLength(0);
    expect(sink.states).toEqual([]);
  });

  it('gives secrets in a scan only digests, which depend on the key of the scan', async () => {
    const files = {
      'main.tf':
        'variable "secret" {\n  type = string\n  sensitive = true\n}\nresource "terraform_data" "it" {\n  input = var.secret\n}\n',
    };
    const holding = { executor: { kind: 'opentofu', files } } as const;
    const states = [];
    for (const secret of ['first-secret-value', 'other-secret-value'])
      states.push((await deploy({ ...holding, variables: { secret } })).state);
    const look = async (state: Buffer | null, key?: string) => {
      const secretsKey = key && Buffer.from(key).toString('base64');
      const variables = { secret: 'wanted-secret-value' };
      const { result } = await run(
        request({ ...holding, phase: 'detect', operation: 'scan', state, variables, secretsKey }),
      );
      const text = JSON.stringify(result.plan?.changes);
      expect(text).not.toContain('secret-value');
      const [found] = deviationsOf(result.plan?.changes ?? []);
      expect(found).toMatchObject({ path: 'input', before: { sensitive: true }, after: { sensitive: true } });
      return found?.secretDigest;
    };
    const [first, other] = states as [Buffer, Buffer];
    const digest = await look(first, 'key');
    expect(digest).toEqual(expect.any(String));
    expect(await look(first, 'key')).toBe(digest);
    expect(await look(other, 'key')).not.toBe(digest);
    expect(await look(first, 'another key')).not.toBe(digest);
    expect(await look(first)).toBeNull();
  });

  it('refuses a plan that is older than the state', async () => {
    const { plan: early } = await plan();
    const { state } = await deploy();
    const { result, sink } = await apply(early, { state });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'apply_failed' });
    expect(result.message).toMatch(/stale|different state|state lineage/i);
    expect(sink.states).toEqual([]);
  });

  it('refuses a plan that has another digest than the approved one, belongs to other files, or was altered', async () => {
    const { plan: planned } = await plan();
    const other = await plan({ variables: { size: 4 } });
    expect(other.plan.digest).not.toBe(planned.digest);
    const mismatch = { outcome: 'failed', reason: 'artifact_mismatch' };
    expect((await apply(planned, { planDigest: other.plan.digest })).result).toMatchObject(mismatch);
    const edited: OpenTofuExecutor = { ...executor, files: { 'main.tf': `${main}\n# edited` } };
    expect((await apply(planned, { executor: edited })).result).toMatchObject(mismatch);
    const altered = Buffer.from(planned.artifact);
    altered[altered.length - 200] = (altered[altered.length - 200] ?? 0) ^ 1;
    expect((await apply({ ...planned, artifact: altered })).result).toMatchObject(mismatch);
    expect((await apply(planned, { operation: 'destroy' })).result).toMatchObject(mismatch);
    expect((await apply(planned, { artifact: null })).result).toMatchObject({ reason: 'artifact_missing' });
  });

  it('masks secrets of templates, tools and variables in plans, outputs and logs', async () => {
    const leaky: OpenTofuExecutor = {
      kind: 'opentofu',
      files: {
        'main.tf': `variable "open" {}\nvariable "secret" {}\nresource "terraform_data" "a" { input = { plain = var.open, nested = ["x-\${var.secret}-y"] } }
output "leak" { value = terraform_data.a.output.nested[0] }\noutput "declared" { value = var.open }`,
      },
    };
    const changes = {
      executor: leaky,
      variables: { open: 'visible', secret: 'Sup3rS3cret!' },
      sensitiveVariables: ['secret'],
      outputs: { declared: { sensitive: true } },
    };
    const planned = await plan(changes);
    expect(JSON.stringify(planned.plan.changes)).not.toContain('Sup3rS3cret');
    expect(planned.plan.changes[0]?.after).toMatchObject({
      input: { plain: 'visible', nested: [{ sensitive: true }] },
    });
    const { result, sink } = await apply(planned.plan, changes);
    expect(result.outputs).toMatchObject({
      leak: { sensitive: true },
      declared: { value: 'visible', sensitive: true },
    });
    const logged = planned.sink.text() + sink.text();
    expect(logged).not.toContain('Sup3rS3cret');
    expect(logged).toContain('[redacted]');
  });

  it('redacts secrets of the latest state from the log', async () => {
    const { state } = await deploy({ variables: { size: 3, token: 'state-held-secret' } });
    const nosy: OpenTofuExecutor = {
      kind: 'opentofu',
      files: { 'main.tf': `${main}\noutput "leak" { value = nonsensitive(terraform_data.machine.output.token) }` },
    };
    const { sink } = await plan({ executor: nosy, state, variables: { size: 3, token: 'state-held-secret' } });
    expect(sink.text()).not.toContain('state-held-secret');
  });
});
