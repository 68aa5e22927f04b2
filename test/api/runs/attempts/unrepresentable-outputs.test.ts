import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  echo,
  openAssemblyStage,
  readNodes,
  startRun,
} from '#test/support/assembly-stage.ts';

let stage: AssemblyStage;
// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
let nodes: Record<string, any>;

const outputs = String.raw`{"nul":{"a":["x\\u0000"],"b":1},"half":"\\ud800","huge":1e100000,"__proto__":{"__proto__":7},"ok":"yes"`;
const deep = `$(printf '[%.0s' $(seq 300))$(printf ']%.0s' $(seq 300))`;

beforeAll(async () => {
  stage = await openAssemblyStage();
  const script = `printf '%s,"deep":%s}' '${outputs.replaceAll('\\\\', '\\')}' "${deep}" > outputs.json; printf '{"a":"\\\\u0000","a":1e100000}' > /dev/null; printf '{"a":"\\\\u0000"}' > state.json`;
  await addTemplate(stage, 'odd', {
    outputs: { nul: {}, ok: {}, half: {} },
    executor: { kind: 'command', apply: [{ name: 'odd', run: ['sh', '-c', script] }] },
  });
  await addTemplate(stage, 'echo', echo());
  const assembly = await addAssembly(stage, 'odd', {
    nodes: {
      a: { template: 'odd' },
      fine: { template: 'echo', variables: { of: '${nodes.a.outputs.nul.b}', name: '${nodes.a.outputs.ok}' } },
      wrong: { template: 'echo', variables: { of: '${nodes.a.outputs.nul}' } },
      asked: { template: 'echo', when: 'nodes.a.outputs.half == "x"' },
    },
  });
  const { path } = await startRun(stage, assembly);
  await awaitAssemblyRun(stage.caller, path);
  nodes = await readNodes(stage.caller, path);
});
afterAll(async () => {
  await stage?.system.close();
});

describe('an apply whose outputs the database cannot store', () => {
  it('succeeds with the outputs that can be stored, and the paths of the others', async () => {
    const { body, text } = await stage.caller.get(`/runs/${nodes['a'].run_id}`);
    expect(body).toMatchObject({ status: 'succeeded', status_reason: null });
    const digest = expect.stringMatching(/^sha256:/);
    const nul = { unrepresentable: { reason: 'holds a NUL character', digest } };
    expect(body.outputs.nul).toEqual({
      value: { a: [nul], b: 1 },
      sensitive: false,
      unrepresentable: [{ path: '/a/0', reason: 'holds a NUL character' }],
    });
    expect(body.outputs.half.unrepresentable).toEqual([
      { path: '', reason: 'holds half of a character (a lone surrogate)' },
    ]);
    expect(body.outputs.huge.unrepresentable).toEqual([
      { path: '', reason: 'holds a number of more than 1000 digits' },
    ]);
    expect(body.outputs.deep.unrepresentable).toMatchObject([{ reason: 'is nested deeper than 200 levels' }]);
    expect(body.outputs.ok).toEqual({ value: 'yes', sensitive: false });
    expect(text).toContain('"__proto__":{"value":{"__proto__":7},"sensitive":false}');
    const instance = await stage.caller.get(`/instances/${nodes['a'].instance_id}/outputs`);
    expect(instance.text).toContain('"__proto__":{"value":{"__proto__":7},"sensitive":false}');
    expect(instance.body.outputs.nul).toEqual(body.outputs.nul);
  });

  it('publishes an event about it, and stores the state byte by byte', async () => {
    const { body } = await stage.caller.get(`/runs/${nodes['a'].run_id}/events`);
    const { data } = body.events.find(({ type }: { type: string }) => type === 'run.outputs_unrepresentable');
    expect(data).toMatchObject({ count: 4 });
    expect(data.values).toContainEqual({ output: 'nul', path: '/a/0', reason: 'holds a NUL character' });
    const state = await stage.caller.get(`/instances/${nodes['a'].instance_id}/state-versions/1/download`);
    expect(state.text).toBe(String.raw`{"a":"\u0000"}`);
  });

  it('passes the stored parts to nodes of assemblies, and refuses nodes that refer to another part', () => {
    expect(nodes['fine'].status).toBe('succeeded');
    expect(nodes['wrong']).toMatchObject({ status: 'failed', reason: { code: 'refused' } });
    expect(nodes['wrong'].reason.message).toContain('nodes.a.outputs.nul has a part that cannot be stored');
    expect(nodes['asked'].reason.message).toContain('nodes.a.outputs.half has a part that cannot be stored');
  });
});
