import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { blocksOf, followPage, runBlocks } from './examples.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 180_000);
afterAll(async () => {
  await system?.close();
});

describe('the example of the page about schedules', () => {
  it('creates a schedule, starts its work at once with a worker, pauses, changes and deletes it', {
    timeout: 120_000,
  }, async () => {
    const [, created = '', triggered = '', changed = ''] = await followPage(system, 'docs/schedules.md', 110_000);
    expect(JSON.parse(created).next_times).toHaveLength(5);
    expect(triggered).toMatch(/"run_id":"[0-9a-f-]{36}"/);
    expect(changed).toContain('"enabled":false');
    expect(changed).toContain('"every":"12h"');
  });
});

describe('the example of the page about settings', () => {
  it('turns schedules off with a reason, and on again', async () => {
    const { email, password } = administrator;
    const { token } = (await system.administrator.post('/auth/sessions', { email, password })).body;
    const blocks = blocksOf(system, 'docs/settings.md', 'example');
    const [changed = '', refused = '', restored = ''] = await runBlocks(blocks, { TOKEN: token }, 30_000);
    expect(JSON.parse(changed).features.schedules).toMatchObject({ enabled: false, reason: 'We move at noon.' });
    expect(refused).toContain('We move at noon.');
    const [, now = ''] = restored.trim().split('\n');
    expect(JSON.parse(now)).toMatchObject({ sign_in_notice: null, features: { schedules: { enabled: true } } });
  });
});
