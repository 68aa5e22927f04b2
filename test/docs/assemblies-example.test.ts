import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { followPage } from './examples.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 180_000);
afterAll(async () => {
  await system?.close();
});

describe('the example of the page about assemblies', () => {
  it('deploys a graph, approves a node, resumes after a failure and destroys, with a worker', {
    timeout: 240_000,
  }, async () => {
    const outputs = await followPage(system, 'docs/assemblies.md', 230_000);
    const [, drafted = '', approved = '', failed = '', resumed = '', destroyed = ''] = outputs;
    expect(drafted).toContain('{"valid":true,"errors":[],"warnings":[]}');
    expect(approved).toContain('"key":"api"');
    expect(failed).toContain('SHOP_KEY: is missing');
    expect(nodesIn(resumed)).toEqual(everywhere('succeeded'));
    expect(nodesIn(destroyed)).toEqual(everywhere('succeeded'));
    expect(destroyed).toContain('"operation":"destroy"');
  });
});

/** The statuses of the nodes in the last response that has them. */
function nodesIn(output: string): unknown {
  const line = output.trim().split('\n').at(-1) ?? '';
  return JSON.parse(line).nodes;
}

function everywhere(status: string) {
  return { network: status, web: status, api: status, 'smoke-test': status };
}
