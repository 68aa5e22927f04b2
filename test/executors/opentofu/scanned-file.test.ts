import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviationsOf } from '#domain/runs/plans/deviations.ts';
import { Executor } from '#executors/client/executor.ts';
import type { ExecutionRequest } from '#executors/protocol/request.ts';
import { hasProviders, makeProviderMirror } from '#test/support/programs/providers.ts';
import { makeRequest, RecordingSink, requireTools } from '../support.ts';

const configuration = `
terraform {
  required_providers { local = { source = "mirror.test/hashicorp/local" } }
}
variable "file" { type = string }
resource "local_file" "note" {
  filename = var.file
  content  = "as deployed"
}
`;
const executor = { kind: 'opentofu' as const, files: { 'main.tf': configuration } };

describe.runIf(hasProviders())('a scan of a real file', () => {
  let directory: string;
  let file: string;
  let open: Executor;
  let state: Buffer | null = null;
  beforeAll(async () => {
    await requireTools();
    directory = mkdtempSync(join(tmpdir(), 'coordinator-test-scan-'));
    chmodSync(directory, 0o777);
    const mirror = join(directory, 'mirror');
    mkdirSync(mirror);
    makeProviderMirror(mirror);
    file = join(directory, 'note.txt');
    // A sandbox would keep what the template writes from the test.
    open = await Executor.start({
      directory: join(directory, 'work'),
      isolation: 'none',
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
    const planned = await execute({ phase: 'plan' });
    expect(planned.result, planned.sink.text()).toMatchObject({ outcome: 'succeeded' });
    const { artifact = null, digest = null } = planned.result.plan ?? {};
    const applied = await execute({ phase: 'apply', artifact, planDigest: digest });
    expect(applied.result, applied.sink.text()).toMatchObject({ outcome: 'succeeded' });
    state = applied.sink.states.at(-1)?.content ?? null;
  }, 180_000);
  afterAll(async () => {
    await open?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function execute(changes: Partial<ExecutionRequest>) {
    const sink = new RecordingSink();
    const variables = { file };
    const request = { executor, variables, state, workRoot: '', timeoutMs: 120_000, ...changes };
    const { workRoot: _, ...made } = makeRequest(request);
    return { sink, result: await open.execute(made, sink, new AbortController().signal) };
  }

  async function scan() {
    const { result, sink } = await execute({ phase: 'detect', operation: 'scan' });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(sink.states).toEqual([]);
    expect(result.plan?.artifact).toHaveLength(0);
    return deviationsOf(result.plan?.changes ?? []);
  }

  it('finds nothing if nothing has changed', async () => {
    expect(readFileSync(file, 'utf8')).toBe('as deployed');
    expect(await scan()).toEqual([]);
  });

  it('finds a file that was changed or removed by hand once, and leaves it as it is', async () => {
    writeFileSync(file, 'changed by hand');
    const found = await scan();
    // The provider treats a file with another content as one that is gone.
    const before = expect.objectContaining({ content: 'as deployed' });
    expect(found).toMatchObject([{ address: 'local_file.note', path: '', before, after: null, action: 'delete' }]);
    expect(readFileSync(file, 'utf8')).toBe('changed by hand');
    rmSync(file);
    expect(await scan()).toEqual(found);
  });
});
