import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Executor } from '#executors/client/executor.ts';
import type { ExecutionRequest, OpenTofuExecutor } from '#executors/protocol/request.ts';
import { hasProviders, makeProviderMirror } from '#test/support/programs/providers.ts';
import { makeRequest, RecordingSink, requireTools } from '../support.ts';

const password = 'hunter-two-thousand';
const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf': `
terraform {
  required_providers {
    ephemeral = { source = "mirror.test/hashicorp/ephemeral" }
  }
}
variable "seed" { type = string }
variable "password" {
  type      = string
  ephemeral = true
}
variable "release" { type = number }
ephemeral "ephemeral_token" "t" { seed = var.seed }
resource "ephemeral_vault" "v" {
  version = var.release
  secret  = "\${ephemeral.ephemeral_token.t.value}:\${var.password}"
}
output "digest" { value = ephemeral_vault.v.digest }
`,
  },
};
const tools = hasProviders() ? await requireTools() : [];

/** The tests use a provider that was built for them, from an operator's mirror. */
describe.runIf(hasProviders())('a write-only argument from an ephemeral resource', () => {
  let directory: string;
  let open: Executor;
  beforeAll(async () => {
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
    await open?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function execute(changes: Partial<ExecutionRequest>) {
    const sink = new RecordingSink();
    const { workRoot: _, ...request } = makeRequest({ executor, workRoot: '', timeoutMs: 120_000, ...changes });
    return { sink, result: await open.execute(request, sink, new AbortController().signal) };
  }

  it.each(tools)(
    'arrives at the apply by $name $version, and is in no plan, state or log',
    async ({ name, version }) => {
      const tool = { name, version };
      const variables = (release: number) => ({ seed: 'dawn', password, release });
      const deploy = async (release: number, state: Buffer | null) => {
        const given = { variables: variables(release), sensitiveVariables: ['password'], tool, state };
        const planned = await execute({ ...given, phase: 'plan' });
        expect(planned.result, planned.sink.text()).toMatchObject({ outcome: 'succeeded' });
        const { artifact = null, digest = null, changes } = planned.result.plan ?? {};
        const applied = await execute({ ...given, phase: 'apply', artifact, planDigest: digest });
        return { planned, applied, changes, artifact };
      };
      const first = await deploy(1, null);
      const digest = createHash('sha256').update(`token-of-dawn:${password}`).digest('hex');
      expect(first.changes).toMatchObject([{ address: 'ephemeral_vault.v', action: 'create' }]);
      expect(first.applied.result, first.applied.sink.text()).toMatchObject({
        outcome: 'succeeded',
        resourceCount: 1,
        outputs: { digest: { value: digest } },
      });
      const state = first.applied.sink.states.at(-1)?.content ?? null;
      const second = await deploy(2, state);
      expect(second.changes).toMatchObject([{ address: 'ephemeral_vault.v', action: 'update' }]);
      expect(second.applied.result, second.applied.sink.text()).toMatchObject({
        outputs: { digest: { value: digest } },
      });
      for (const { planned, applied, artifact } of [first, second]) {
        const stored = [artifact, ...applied.sink.states.map(({ content }) => content)];
        const told = [planned, applied].flatMap(({ result, sink }) => [JSON.stringify(result), sink.text()]);
        for (const each of [...stored, ...told]) expect(String(each)).not.toMatch(/token-of-dawn|hunter-two/);
      }
    },
    180_000,
  );
});
