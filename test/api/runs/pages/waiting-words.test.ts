import { expect, it } from 'vitest';
import { describeWaiting } from '#api/runs/pages/run/waiting.ts';

type Run = Parameters<typeof describeWaiting>[0];

/** What a page says about a run that has waited for a worker for some seconds. */
function wordsAfter(seconds: number, tools?: readonly object[]): string {
  const since = new Date(Date.now() - seconds * 1000).toISOString();
  const waiting = { code: 'no_worker', since, position: null, blocker: null, ...(tools && { tools }) };
  return String(describeWaiting({ pool: 'default', waiting_on: waiting } as unknown as Run)?.what);
}

it('a run that has just begun to wait for a worker is not said to have none', () => {
  expect(wordsAfter(1)).toBe('The run is ready, and the next free worker of the pool default takes it.');
  expect(wordsAfter(60)).toContain('No worker of the pool default is free for it');
});

it('a run whose tool no worker has says so from the beginning', () => {
  expect(wordsAfter(1, [{ name: 'opentofu', version: '1.2.3' }])).toContain(
    'no worker of the pool default that has it',
  );
});
