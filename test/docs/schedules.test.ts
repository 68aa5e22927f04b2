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

describe('the example of the page about schedules', () => {
  it('makes a schedule, starts its work now with a worker, pauses, changes and deletes it', {
    timeout: 120_000,
  }, async () => {
    const user = { email: 'ana@example.com', name: 'Ana', role: 'maintainer', password: 'correct horse battery' };
    expect((await system.administrator.post('/users', user)).status).toBe(201);
    const { email, password } = user;
    const session = await system.administrator.post('/auth/sessions', { email, password });
    const blocks = [
      ...codeBlocks('docs/access.md').filter(({ info }) => info === 'sh place'),
      ...codeBlocks('docs/schedules.md').filter(({ info }) => info === 'sh example'),
    ];
    const input = blocks
      .map(({ text }) => `echo '--'\n${text}`)
      .join('')
      .replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(
      ['-eu'],
      { TOKEN: session.body.token },
      { shell: 'sh', input, withinMs: 110_000 },
    );
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    expect(output).not.toContain('"error":');
    const [, , , created = '', triggered = '', changed = ''] = output.split('--\n');
    expect(JSON.parse(created).next_times).toHaveLength(5);
    expect(triggered).toMatch(/"run_id":"[0-9a-f-]{36}"/);
    expect(changed).toContain('"enabled":false');
    expect(changed).toContain('"every":"12h"');
  });
});
