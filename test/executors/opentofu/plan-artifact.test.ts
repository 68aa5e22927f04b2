import { afterAll, describe, expect, it } from 'vitest';
import { unpackArtifact } from '#executors/attempt/artifact.ts';
import { encodeFrame, FrameReader } from '#executors/protocol/frames.ts';
import type { CommandExecutor, OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, RecordingSink, requireTools, run, shell, type TestRequest } from '../support.ts';

/** Reviewers see exactly the plan that is applied, whatever the template does while it plans. */
const [tool] = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const infrastructure = (input: string): OpenTofuExecutor => ({
  kind: 'opentofu',
  files: { 'main.tf': `resource "terraform_data" "x" {\n  input = "${input}"\n}\n` },
});
const plan = (changes: Partial<TestRequest> & Pick<TestRequest, 'executor'>) =>
  run(makeRequest({ workRoot: work.path, phase: 'plan', tool: tool ?? null, ...changes }));

interface Manifest {
  facts: { changes: { address: string; action: string; after: unknown }[] };
  files: { path: string; size: number }[];
}

function read(artifact: Buffer): { manifest: Manifest; body: Buffer } {
  const [frame] = new FrameReader<Manifest>().push(artifact);
  if (!frame) throw new Error('no artifact');
  return { manifest: frame.message, body: frame.body };
}

describe('the plan that reviewers see', () => {
  it('is read from the plan file, which the artifact contains byte by byte', async () => {
    const { result } = await plan({ executor: infrastructure('honest') });
    const { artifact = Buffer.alloc(0), changes = [], digest = '' } = result.plan ?? {};
    const { facts, files } = unpackArtifact(artifact, digest);
    expect(facts.changes).toEqual(changes);
    expect(files.get('plan')?.subarray(0, 2).toString()).toBe('PK');
    expect(changes).toMatchObject([{ address: 'terraform_data.x', action: 'create', after: { input: 'honest' } }]);
  });

  it("is shown without the environment's variables", async () => {
    const environment = [{ name: 'TF_LOG', value: 'trace', sensitive: false }];
    const { sink, result } = await plan({ executor: infrastructure('x'), environment });
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(result.plan?.changes).toMatchObject([{ address: 'terraform_data.x' }]);
    const afterPlan = sink.text('stderr').split('show -json').slice(1).join('');
    expect(afterPlan).not.toContain('TRACE');
  });

  it('cannot be exchanged afterwards, because changes, plan and variables must match the digest', async () => {
    const [honest, other] = [
      await plan({ executor: infrastructure('one') }),
      await plan({ executor: infrastructure('two') }),
    ];
    const artifact = honest.result.plan?.artifact ?? Buffer.alloc(0);
    const otherArtifact = other.result.plan?.artifact ?? Buffer.alloc(0);
    const { manifest, body } = read(artifact);
    const prettier = structuredClone(manifest);
    for (const change of prettier.facts.changes) change.after = { input: 'harmless' };
    const exchanged = read(otherArtifact);
    const forged = [
      encodeFrame(prettier, body),
      encodeFrame({ ...exchanged.manifest, facts: manifest.facts }, exchanged.body),
      encodeFrame({ ...manifest, files: [...manifest.files, { path: 'plan', size: 0 }] }, body),
      otherArtifact,
      artifact.subarray(0, -1),
      Buffer.alloc(0),
    ];
    for (const artifact of forged) {
      const { result, sink } = await plan({
        executor: infrastructure('one'),
        phase: 'apply',
        artifact,
        planDigest: honest.result.plan?.digest ?? null,
      });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
      expect(sink.states).toEqual([]);
    }
  });

  it('fails to apply if the plan file is not a plan', async () => {
    const { result } = await plan({ executor: infrastructure('one') });
    const { manifest, body } = read(result.plan?.artifact ?? Buffer.alloc(0));
    const [file] = manifest.files;
    const content = Buffer.concat([Buffer.alloc(file?.size ?? 0, 'x'), body.subarray(file?.size ?? 0)]);
    const applied = await plan({
      executor: infrastructure('one'),
      phase: 'apply',
      artifact: encodeFrame(manifest, content),
      planDigest: null,
    });
    expect(applied.result).toMatchObject({ outcome: 'failed', reason: 'artifact_mismatch' });
    expect(applied.sink.states).toEqual([]);
  });

  it('is, for a command template, what its steps left once all their processes had ended', async () => {
    const change = (address: string) => `[{"address":"${address}","action":"create"}]`;
    const later = `(setsid sh -c 'for i in $(seq 300); do sleep 0.02; echo '\\''${change('other')}'\\'' > plan.json; done' &)`;
    const executor: CommandExecutor = {
      kind: 'command',
      plan: [shell(`${later}; echo '${change('shown')}' > plan.json; echo one > plan/kept`)],
      apply: [shell('cat plan.json plan/kept')],
    };
    const { result } = await plan({ executor, tool: null });
    const { artifact = Buffer.alloc(0), changes = [], digest = '' } = result.plan ?? {};
    const { files } = unpackArtifact(artifact, digest);
    expect(JSON.parse(files.get('plan.json')?.toString() ?? '')).toMatchObject([{ address: changes[0]?.address }]);
    const applied = await run(
      makeRequest({ workRoot: work.path, executor, artifact, planDigest: digest }),
      new RecordingSink(),
    );
    expect(applied.sink.text('stdout')).toContain(changes[0]?.address ?? 'nothing');
  });
});
