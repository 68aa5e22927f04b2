import { expect, it } from 'vitest';
import { YieldingPlaces } from '#domain/shared/tasks/yielding-places.ts';

const places = (waitsMs = 60_000) => new YieldingPlaces({ max: 2, waitsMs, refusal: 'both are taken' });

/** A task that never ends by itself. */
const hanging = (keepsMs: number, holders: readonly string[] = []) => ({
  holders,
  keepsMs,
  run: (givenUp: AbortSignal) =>
    new Promise<string>((resolve) => {
      if (givenUp.aborted) resolve('gave up');
      else givenUp.addEventListener('abort', () => resolve('gave up'));
    }),
});
const short = { holders: [], keepsMs: 60_000, run: async () => 'done' };

it('a task that exceeds its time yields its place to a waiting task', async () => {
  const shared = places();
  const [first, second] = [shared.run(hanging(0)), shared.run(hanging(60_000))];
  expect(await shared.run(short)).toBe('done');
  expect(await first).toBe('gave up');
  const third = shared.run(hanging(0));
  expect(await shared.run(short)).toBe('done');
  expect(await third).toBe('gave up');
  expect(await Promise.race([second, Promise.resolve('still running')])).toBe('still running');
});

it('a task waits until a running task exceeds its time', async () => {
  const shared = places();
  const running = [shared.run(hanging(60_000)), shared.run(hanging(200))];
  const waiting = shared.run(short);
  expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits');
  expect(await waiting).toBe('done');
  expect(await running[1]).toBe('gave up');
});

it('a task that gets no place in time is refused with retryAfter, and takes no place afterwards', async () => {
  const shared = places(100);
  const running = [shared.run(hanging(300)), shared.run(hanging(60_000))];
  await expect(shared.run(short)).rejects.toMatchObject({ kind: 'limited', message: 'both are taken', retryAfter: 1 });
  expect(await Promise.race([...running, Promise.resolve('still running')])).toBe('still running');
  await expect.poll(() => shared.run(short).catch(() => 'refused')).toBe('done');
});

it('the waiting task whose holders have the fewest places starts first', async () => {
  const shared = places();
  const order: string[] = [];
  const named = (name: string, holders: readonly string[]) => ({
    holders,
    keepsMs: 60_000,
    run: async () => void order.push(name),
  });
  const running = [shared.run(hanging(100, ['greedy'])), shared.run(hanging(60_000, ['greedy', 'other']))];
  const waiting = [
    ...['first', 'second', 'third'].map((name) => shared.run(named(name, ['greedy']))),
    shared.run(named('modest', ['modest'])),
  ];
  await Promise.all(waiting);
  expect(order[0]).toBe('modest');
  expect(await running[0]).toBe('gave up');
});

it('a task that fails frees its place', async () => {
  const shared = places();
  const failing = { holders: [], keepsMs: 60_000, run: () => Promise.reject(new Error('broken')) };
  for (let tries = 0; tries < 3; tries += 1) await expect(shared.run(failing)).rejects.toThrow('broken');
  expect(await shared.run(short)).toBe('done');
});
