import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { packArtifact, unpackArtifact } from '#executors/attempt/artifact.ts';
import { Executor } from '#executors/client/executor.ts';
import type { ExecutionRequest, ExecutionResult } from '#executors/protocol/request.ts';
import { hasProviders, makeProviderMirror } from '#test/support/programs/providers.ts';
import { makeRequest, RecordingSink, requireTools } from '../support.ts';
import { loggedCommands } from './opentofu-support.ts';
import { unpackPlan, writeZip } from './plan-file/zip-writer.ts';

const configuration = `
terraform {
  required_providers {
    time  = { source = "mirror.test/hashicorp/time" }
    local = { source = "mirror.test/hashicorp/local" }
  }
}
resource "time_static" "now" {}
resource "local_file" "note" {
  filename = "\${path.root}/note.txt"
  content  = "written at \${time_static.now.year}"
}
output "year" { value = time_static.now.year }
`;
const executor = { kind: 'opentofu' as const, files: { 'main.tf': configuration } };

/** The tests use real providers, from an operator's mirror. */
describe.runIf(hasProviders())('a template with providers', () => {
  let directory: string;
  let open: Executor;
  beforeAll(async () => {
    await requireTools();
    directory = mkdtempSync(join(tmpdir(), 'coordinator-test-mirror-'));
    chmodSync(directory, 0o711);
    const mirror = join(directory, 'mirror');
    mkdirSync(mirror);
    makeProviderMirror(mirror);
    open = await Executor.start({
      directory: join(directory, 'work'),
      isolation: 'sandbox',
      user: null,
      cores: 2,
      addedPaths: [],
      hiddenPaths: [],
      deniedAddresses: [],
      toolsDirectory: null,
      providerMirror: mirror,
      providerNetworkMirror: null,
      providersDirect: false,
    });
  });
  afterAll(async () => {
    await open.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function execute(changes: Partial<ExecutionRequest>) {
    const sink = new RecordingSink();
    const { workRoot: _, ...request } = makeRequest({ executor, workRoot: '', timeoutMs: 120_000, ...changes });
    return { sink, result: await open.execute(request, sink, new AbortController().signal) };
  }

  async function deploy() {
    const { result } = await execute({ phase: 'plan' });
    const { artifact = null, digest = null } = result.plan ?? {};
    const { sink } = await execute({ phase: 'apply', artifact, planDigest: digest });
    return { state: sink.states.at(-1)?.content ?? null };
  }

  it('is initialized once for its version, planned and applied', async () => {
    const planned = await execute({ phase: 'plan' });
    expect(planned.result, planned.sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(loggedCommands(planned.sink)).toEqual(['init', 'plan']);
    const { artifact = null, digest = null } = planned.result.plan ?? {};
    const applied = await execute({ phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    expect(loggedCommands(applied.sink)).toEqual(['apply']);
    const again = await execute({ phase: 'plan', state: applied.sink.states.at(-1)?.content ?? null });
    expect(loggedCommands(again.sink)).toEqual(['plan']);
    expect(again.result.plan?.changes.map(({ address }) => address)).toEqual(['local_file.note']);
  }, 180_000);

  it('shares none of the providers that only the state of one instance needs with other instances of the version', async () => {
    const { state } = await deploy();
    const files = { 'main.tf': 'resource "terraform_data" "x" {}\n' };
    const next = { executor: { kind: 'opentofu' as const, files }, phase: 'plan' as const };
    const lockOf = (plan: ExecutionResult['plan']) =>
      unpackArtifact(plan?.artifact ?? Buffer.alloc(0), plan?.digest ?? null).files.get('lock');
    for (const order of ['with the state first', 'with the state last']) {
      const plans = [state, null].map((each) => ({ ...next, templateVersion: order, state: each }));
      if (order === 'with the state last') plans.reverse();
      for (const request of plans) {
        const { result, sink } = await execute(request);
        expect(result, `${order}\n${sink.text()}`).toMatchObject({ outcome: 'succeeded' });
        const lock = lockOf(result.plan)?.toString() ?? '';
        expect(lock.includes('mirror.test/hashicorp/local'), order).toBe(request.state !== null);
        if (request.state === null) continue;
        const { artifact = null, digest = null } = result.plan ?? {};
        const applied = await execute({ ...request, phase: 'apply', artifact, planDigest: digest });
        expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 1 });
      }
    }
  }, 240_000);

  it('is applied from a plan of an earlier release, which was made with the complete lock file', async () => {
    const { result } = await execute({ phase: 'plan' });
    const { facts, files } = unpackArtifact(result.plan?.artifact ?? Buffer.alloc(0), result.plan?.digest ?? null);
    expect(files.get('lock')?.toString()).toContain('h1:');
    expect(files.get('tool-lock')?.toString()).not.toContain('h1:');
    const planned = await unpackPlan(files.get('plan') ?? Buffer.alloc(0));
    const isLock = (name: string) => name === '.terraform.lock.hcl';
    const complete = planned.map((each) =>
      isLock(each.name) ? { ...each, content: files.get('lock') ?? each.content } : each,
    );
    const { 'tool-lock': _, ...others } = Object.fromEntries(files);
    const packed = packArtifact(facts, new Map(Object.entries({ ...others, plan: writeZip(complete) })));
    const applied = await execute({ phase: 'apply', artifact: packed.artifact, planDigest: packed.digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded', resourceCount: 2 });
    const mixed = packArtifact(facts, new Map(Object.entries(others)));
    const refused = await execute({ phase: 'apply', artifact: mixed.artifact, planDigest: mixed.digest });
    expect(refused.result).toMatchObject({ outcome: 'failed', reason: 'apply_failed' });
    expect(refused.sink.text()).toContain('Inconsistent dependency lock file');
  }, 120_000);

  it('fails to initialize if the mirror lacks a provider, without asking a registry', async () => {
    const files = {
      'main.tf': 'terraform {\n  required_providers {\n    x = { source = "hashicorp/random" }\n  }\n}\n',
    };
    const { result, sink } = await execute({ phase: 'plan', executor: { kind: 'opentofu', files } });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/hashicorp\/random/);
    expect(sink.text()).not.toMatch(/could not connect|proxyconnect/i);
  });

  it.each([
    ['hashes of other platforms only', '0.14.2', 'h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
    ['a version that there is not', '0.14.1', 'h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
  ])('is refused if its lock file has %s', async (_, version, hash) => {
    const lock = `provider "mirror.test/hashicorp/time" {\n  version = "${version}"\n  hashes = ["${hash}"]\n}\n`;
    const files = { 'main.tf': configuration, '.terraform.lock.hcl': lock };
    const { result, sink } = await execute({ phase: 'plan', executor: { kind: 'opentofu', files } });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(sink.text()).toMatch(/checksums|no longer available|available releases/);
  });

  it('is refused if the mirror has no version that its constraints and its lock file allow', async () => {
    const lock =
      'provider "mirror.test/hashicorp/time" {\n  version = "0.14.2"\n  constraints = "0.14.2"\n  hashes = []\n}\n';
    const wanted = configuration.replace('hashicorp/time"', 'hashicorp/time", version = "~> 99.0"');
    const others: TemplateFiles[] = [{ 'main.tf': wanted }, { 'main.tf': wanted, '.terraform.lock.hcl': lock }];
    for (const files of others) {
      const { result } = await execute({ phase: 'plan', executor: { kind: 'opentofu', files } });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    }
  });
});
