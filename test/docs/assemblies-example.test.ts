import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runShell } from '#test/support/programs/shell.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { codeBlocks } from './markdown.ts';

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
    const user = { email: 'ana@example.com', name: 'Ana', role: 'maintainer', password: 'correct horse battery' };
    expect((await system.administrator.post('/users', user)).status).toBe(201);
    const session = await system.administrator.post('/auth/sessions', pick(user));
    const blocks = [
      ...codeBlocks('docs/access.md').filter(({ info }) => info === 'sh place'),
      ...codeBlocks('docs/assemblies.md').filter(({ info }) => info === 'sh example'),
    ];
    const input = blocks
      .map(({ text }) => `echo '--'\n${text}`)
      .join('')
      .replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(
      ['-eu'],
      { TOKEN: session.body.token },
      { shell: 'sh', input, withinMs: 230_000 },
    );
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain('"error":');
    const [, , , drafted = '', approved = '', failed = '', resumed = '', destroyed = ''] = output.split('--\n');
    expect(drafted).toContain('{"valid":true,"errors":[],"warnings":[]}');
    expect(approved).toContain('"key":"api"');
    expect(failed).toContain('SHOP_KEY: is missing');
    expect(nodesIn(resumed)).toEqual(everywhere('succeeded'));
    expect(nodesIn(destroyed)).toEqual(everywhere('succeeded'));
    expect(destroyed).toContain('"operation":"destroy"');
  });
});

function pick({ email, password }: { email: string; password: string }) {
  return { email, password };
}

/** The statuses of the nodes in the last answer that has them. */
function nodesIn(output: string): unknown {
  const line = output.trim().split('\n').at(-1) ?? '';
  return JSON.parse(line).nodes;
}

function everywhere(status: string) {
  return { network: status, web: status, api: status, 'smoke-test': status };
}
