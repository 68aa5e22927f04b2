import { expect, it } from 'vitest';
import { describeWaiting } from '#api/runs/pages/run/waiting.ts';

type Run = Parameters<typeof describeWaiting>[0];

/** The texts of the page of a run that has waited for some seconds. */
function describeAfter(seconds: number, code: string, tools?: readonly object[]) {
  const since = new Date(Date.now() - seconds * 1000).toISOString();
  const waiting = { code, since, position: null, blocker: null, ...(tools && { tools }) };
  return describeWaiting({ pool: 'default', waiting_on: waiting } as unknown as Run);
}

/** The text on what a run waits for, if it has waited for a worker for some seconds. */
function wordsAfter(seconds: number, tools?: readonly object[]): string {
  return String(describeAfter(seconds, 'no_worker', tools)?.what);
}

it('the page of a run that was just created says that it starts in a moment, and gives advice only later', () => {
  expect(describeAfter(1, 'engine')?.who).toBe('This takes a moment.');
  expect(describeAfter(60, 'engine')?.who).toContain('An operator should check that a worker is running');
});

it('the page of a run that just began to wait for a worker does not say that there is none', () => {
  expect(wordsAfter(1)).toBe('The run is ready, and the next free worker of the pool default takes it.');
  expect(wordsAfter(60)).toContain('No worker of the pool default is free for it');
});

it('the page of a run whose tool no worker has says so from the beginning', () => {
  expect(wordsAfter(1, [{ name: 'opentofu', version: '1.2.3' }])).toContain(
    'no worker of the pool default that has it',
  );
});
