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

describe('the example of the page about schedules', () => {
  it('makes a schedule, starts its work now with a worker, pauses, changes and deletes it', {
    timeout: 120_000,
  }, async () => {
    const [, created = '', triggered = '', changed = ''] = await followPage(system, 'docs/schedules.md', 110_000);
    expect(JSON.parse(created).next_times).toHaveLength(5);
    expect(triggered).toMatch(/"run_id":"[0-9a-f-]{36}"/);
    expect(changed).toContain('"enabled":false');
    expect(changed).toContain('"every":"12h"');
  });
});
