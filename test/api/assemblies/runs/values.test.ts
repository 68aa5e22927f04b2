import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AssemblyStage,
  addAssembly,
  addTemplate,
  awaitAssemblyRun,
  echo,
  openAssemblyStage,
  readNodes,
  readStory,
  startRun,
} from '#test/support/assembly-stage.ts';
import { publishVersion } from '#test/support/templates.ts';

let stage: AssemblyStage;
beforeAll(async () => {
  stage = await openAssemblyStage({ WORKER_CONCURRENCY: '4' });
  await addTemplate(stage, 'echo', echo());
});
afterAll(async () => {
  await stage?.system.close();
});

const properties = {
  size: { type: 'integer', default: 2 },
  token: { type: 'string', writeOnly: true },
};
const shop = {
  variables: { type: 'object', properties },
  nodes: {
    network: { template: 'echo', variables: { size: '${variables.size}', cidr: '10.0.0.0/16' } },
    app: {
      template: 'echo',
      variables: { name: 'app in ${nodes.network.outputs.all.cidr}', size: '${nodes.network.outputs.all.size}' },
    },
    vault: {
      template: 'echo',
      variables: { key: '${nodes.network.outputs.secret}', token: 'x-${variables.token}' },
    },
    never: { template: 'echo', when: 'variables.size > 100' },
    after_never: { template: 'echo', depends_on: ['never'] },
    without: { template: 'echo', variables: { of: '${nodes.never.outputs.all}' } },
  },
  outputs: { name: '${nodes.app.outputs.all.name}', secret: '${nodes.network.outputs.secret}' },
};

describe('an assembly run', () => {
  it('outputs are passed from node to node with secrets masked, and events are in order', async () => {
    const { caller } = stage;
    const assembly = await addAssembly(stage, 'Shop', shop);
    const { path } = await startRun(stage, assembly, { variables: { token: 'tok-123' } });
    const run = await awaitAssemblyRun(caller, path);
    const nodes = await readNodes(caller, path);
    expect(run).toMatchObject({
      status: 'succeeded',
      variables: { size: 2, token: { sensitive: true } },
      outputs: {
        name: { value: 'app in 10.0.0.0/16', sensitive: false },
        secret: { value: null, sensitive: true },
      },
      nodes: {
        network: 'succeeded',
        app: 'succeeded',
        vault: 'succeeded',
        never: 'skipped',
        after_never: 'succeeded',
        without: 'skipped',
      },
    });
    const { never, without, vault } = nodes;
    expect(never.reason).toEqual({
      code: 'condition_false',
      message: 'its condition is false: variables.size > 100',
    });
    expect(without.reason.code).toBe('outputs_missing');
    expect((await caller.get(`/runs/${vault.run_id}`)).body).toMatchObject({
      assembly_run_id: run.id,
      variables: { key: { sensitive: true }, token: { sensitive: true } },
    });
    const story = await readStory(caller, path);
    expect(story[0]).toBe('admitted');
    expect(story.at(-1)).toBe('finished');
    expect(story.indexOf('node_ended network')).toBeLessThan(story.indexOf('node_started app'));
    expect((await caller.get(`${path}/events?limit=200`)).text).not.toContain('tok-123');
  });

  it('an assembly output, and the variable of a later node, are masked while a newer template version declares the output secret', async () => {
    const { caller } = stage;
    const template = await addTemplate(stage, 'later', echo());
    const app = {
      template: 'echo',
      instance: 'l-app',
      variables: { name: 'from ${nodes["n\\u0065t"].outputs.all.name}' },
    };
    const nodes = { net: { template: 'later', variables: { name: 'open-at-first' } }, app };
    const outputs = { all: 'is ${nodes["n\\u0065t"].outputs.all.name}', own: 'plain' };
    const { path } = await startRun(stage, await addAssembly(stage, 'Later', { nodes, outputs }));
    const all = { value: 'is open-at-first', sensitive: false };
    expect((await awaitAssemblyRun(caller, path)).outputs.all).toEqual(all);
    const variablesOfApp = async () =>
      (await caller.get(`/runs/${(await readNodes(caller, path))['app'].run_id}`)).body.variables;
    expect(await variablesOfApp()).toEqual({ name: 'from open-at-first' });
    await publishVersion(caller, template, '1.0.1', echo('true', { outputs: { all: { sensitive: true } } }));
    const [one, listed] = await Promise.all([caller.get(path), caller.get(path.replace(/\/[^/]+$/, ''))]);
    const masked = { value: null, sensitive: true };
    expect([one.body.outputs.all, listed.body.assembly_runs[0].outputs.all]).toEqual([masked, masked]);
    expect(one.text + listed.text).not.toContain('is open-at-first');
    expect(await variablesOfApp()).toEqual({ name: { sensitive: true } });
    await caller.post(`/registry/templates/${template}/versions/1.0.1/yank`);
    expect((await caller.get(path)).body.outputs.all).toEqual(all);
  });

  it('a node whose references resolve to more than the limit is refused, and too large assembly outputs are omitted', async () => {
    const { caller } = stage;
    const variables = { type: 'object', properties: { large: { type: 'string' } } };
    const large = { variables: { large: 'x'.repeat(100_000) } };
    const a = { template: 'echo', instance: 'l-a', variables: { name: '${variables.large}' } };
    const b = { template: 'echo', instance: 'l-b', variables: { name: '${variables.large}'.repeat(20) } };
    const refused = await startRun(stage, await addAssembly(stage, 'Large', { variables, nodes: { a, b } }), large);
    expect((await awaitAssemblyRun(caller, refused.path)).nodes).toEqual({ a: 'succeeded', b: 'failed' });
    expect((await readNodes(caller, refused.path))['b'].reason).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('the references give more than 1 MiB or 20,000 values'),
    });
    const names = Array.from({ length: 20 }, (_, index) => `o${index}`);
    const outputs = Object.fromEntries(names.map((name) => [name, '${nodes.a.outputs.all.name}']));
    const assembly = await addAssembly(stage, 'Large outputs', { variables, nodes: { a }, outputs });
    const run = await awaitAssemblyRun(caller, (await startRun(stage, assembly, large)).path);
    expect([run.status, Object.keys(run.outputs)]).toEqual(['succeeded', names.slice(0, 10)]);
  });
});
