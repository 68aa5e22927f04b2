import { expect, it } from 'vitest';
import { YieldingPlaces } from '#domain/shared/tasks/yielding-places.ts';

const places = () => new YieldingPlaces({ most: 2, refusal: 'both are taken' });

/** A task that never ends by itself. */
const hanging = (keepsMs: number) => ({
  keepsMs,
  run: (givenUp: AbortSignal) =>
    new Promise<string>((resolve) => {
      givenUp.addEventListener('abort', () => resolve('gave up'));
    }),
});
const short = { keepsMs: 60_000, run: async () => 'done' };

it('a task that hangs beyond its time gives its place up to a new one, the longest first', async () => {
  const shared = places();
  const [first, second] = [shared.run(hanging(0)), shared.run(hanging(60_000))];
  expect(await shared.run(short)).toBe('done');
  expect(await first).toBe('gave up');
  const third = shared.run(hanging(0));
  expect(await shared.run(short)).toBe('done');
  expect(await third).toBe('gave up');
  expect(await Promise.race([second, Promise.resolve('still running')])).toBe('still running');
});

it('a task within its time keeps its place, and the new one is told how soon to try again', async () => {
  const shared = places();
  const running = [shared.run(hanging(30_000)), shared.run(hanging(60_000))];
  await expect(shared.run(short)).rejects.toMatchObject({ kind: 'limited', message: 'both are taken', retryAfter: 30 });
  expect(await Promise.race([...running, Promise.resolve('still running')])).toBe('still running');
});

it('a task that fails leaves its place free', async () => {
  const shared = places();
  const failing = { keepsMs: 60_000, run: () => Promise.reject(new Error('broken')) };
  for (let tries = 0; tries < 3; tries += 1) await expect(shared.run(failing)).rejects.toThrow('broken');
  expect(await shared.run(short)).toBe('done');
});
