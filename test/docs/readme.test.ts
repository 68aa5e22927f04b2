import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runShell } from '#test/support/programs/shell.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { codeBlocks } from './markdown.ts';

const password = 'as the first start printed it';
const address = 'http://127.0.0.1:8080';

let system: System;
beforeAll(async () => {
  system = await startSystem();
  const user = { email: 'admin@example.com', name: 'Administrator', role: 'admin', password };
  const made = await system.administrator.post('/users', user);
  expect(made.status, made.text).toBe(201);
});
afterAll(async () => {
  await system?.close();
});

/** Waits until the run has the status that the README states. */
const awaitStatus = `
await_status() {
  n=0
  until as $ADMIN $URL/runs/$RUN | grep -q "\\"status\\":\\"$1\\""; do
    n=$((n + 1)); [ $n -lt 200 ] || exit 9
    sleep 0.1
  done
}
`;

/** The run's status after each block of the tour, as the text states it. */
const claims = ['pending_approval', 'succeeded', 'succeeded'];

describe('the tour of the README', () => {
  it.each(['sh', 'bash'])('works when it is pasted into %s', { timeout: 60_000 }, async (shell) => {
    // The second shell needs other names than the first one.
    const email = `bea-${shell}@example.com`;
    const blocks = codeBlocks('README.md').filter(({ info }) => info === 'sh tour');
    expect(blocks).toHaveLength(claims.length);
    const script = blocks
      .map(({ text }, index) => `${text}\necho; await_status ${claims[index]}; echo '--'\n`)
      .join('')
      .replaceAll(address, system.url)
      .replaceAll('bea@example.com', email)
      .replace('"Greeting"', `"Greeting in ${shell}"`);
    const { code, output, errors } = await runShell(
      ['-u'],
      { PASSWORD: password },
      { shell, input: awaitStatus + script },
    );
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [admitted = '', approved = '', told = ''] = output.split('--\n');
    expect(admitted).toMatch(/"version":"1.0.0".*\n?.*"status":"(queued|running|pending_approval)"/s);
    expect(approved).toContain(`"email":"${email}"`);
    expect(approved).toContain('"decision":"approve"');
    expect(told).toContain('"status":"succeeded"');
    expect(told).toContain('\nHello, Ana\n');
    expect(told).toContain('"type":"run.finished"');
    expect(output).not.toContain('"error"');
  });

  it('is short', () => {
    const lines = codeBlocks('README.md')
      .filter(({ info }) => info === 'sh tour')
      .flatMap(({ text }) => text.trim().split('\n'));
    expect(lines.length).toBeLessThan(20);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(150);
  });
});
