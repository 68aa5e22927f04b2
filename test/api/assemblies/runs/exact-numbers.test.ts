import { afterAll, beforeAll, expect, it } from 'vitest';
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

const large = '9007199254740993';

let stage: AssemblyStage;
beforeAll(async () => {
  stage = await openAssemblyStage();
  const source = {
    outputs: { n: {}, none: {}, list: {} },
    executor: {
      kind: 'command',
      apply: [
        { name: 'out', run: ['sh', '-c', `echo '{"n":${large},"none":null,"list":[0.1,1e400,-0]}' > outputs.json`] },
      ],
    },
  };
  await addTemplate(stage, 'source', source);
  await addTemplate(stage, 'echo', echo());
  await addTemplate(stage, 'bounded', sized({ type: 'integer', minimum: 1 }));
  await addTemplate(stage, 'stepped', sized({ type: 'integer', multipleOf: 3 }));
});
afterAll(async () => {
  await stage?.system.close();
});

function sized(size: object) {
  return { ...echo(), variables: { type: 'object', properties: { size } } };
}

/** The outputs of a node's run as JSON, with every digit. */
async function outputsOf(run: string): Promise<string> {
  const { text } = await stage.caller.get(`/runs/${run}`);
  return /"outputs":(\{.*?\}\}),"/.exec(text)?.[1] ?? text;
}

it('an assembly passes numbers to the next node with all their digits, and null as a value', async () => {
  const { caller } = stage;
  const n = '${nodes.a.outputs.n}';
  const assembly = await addAssembly(stage, 'exact', {
    nodes: {
      a: { template: 'source' },
      b: {
        template: 'echo',
        variables: { size: n, name: `n=${n}`, mark: '${nodes.a.outputs.none}', of: '${nodes.a.outputs.list}' },
      },
      c: { template: 'bounded', variables: { size: n } },
      d: { template: 'stepped', variables: { size: n } },
      e: { template: 'echo', depends_on: ['a'], when: 'nodes.a.outputs.n > 1' },
      f: { template: 'echo', when: 'nodes.a.outputs.none == null' },
    },
    outputs: { n },
  });
  const { path } = await startRun(stage, assembly);
  await awaitAssemblyRun(caller, path);
  const { a, b, c, d, e, f } = await readNodes(caller, path);

  expect(await outputsOf(a.run_id)).toContain(`"n":{"value":${large},"sensitive":false}`);
  const ofB = await outputsOf(b.run_id);
  expect(ofB).toContain(`"name":"n=${large}"`);
  expect(ofB).toContain(`"size":${large}`);
  expect(ofB).toContain('"mark":null');
  expect(ofB).toContain('"of":[0.1,1e+400,0]');
  expect(await outputsOf(c.run_id)).toContain(`"size":${large}`);
  expect(d).toMatchObject({
    status: 'failed',
    reason: { message: expect.stringContaining('/size holds a number with more digits') },
  });
  expect(e).toMatchObject({
    status: 'failed',
    reason: { code: 'condition_failed', message: expect.stringContaining('nodes.a.outputs.n holds a number') },
  });
  expect(f.status).toBe('succeeded');

  const shown = await caller.get(`/runs/${b.run_id}`);
  expect(shown.text).toContain(`"name":"n=${large}","size":${large}},"message"`);
  const instance = await caller.get(`/instances/${a.instance_id}/outputs`);
  expect(instance.text).toContain(`"n":{"value":${large}`);
});
