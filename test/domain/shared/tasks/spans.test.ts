import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { announceSpan, listenToSpans, now, type Span, timed } from '#domain/shared/tasks/spans.ts';

/** The spans that are announced while the work is done. */
async function listenDuring(work: () => Promise<unknown>): Promise<Span[]> {
  const heard: Span[] = [];
  const stop = listenToSpans((span) => heard.push(span));
  await work().finally(stop);
  return heard;
}

it('timed work announces its name, its facts and its time', async () => {
  const before = now();
  const [span, ...others] = await listenDuring(() => timed('claim', { attemptId: 'one' }, () => sleep(30)));
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: 'claim', facts: { attemptId: 'one' } });
  expect(span?.startedAt).toBeGreaterThanOrEqual(before);
  expect(span?.endedAt).toBeLessThanOrEqual(now());
  expect((span?.endedAt ?? 0) - (span?.startedAt ?? 0)).toBeGreaterThanOrEqual(29);
});

it('timed work returns its result, whether somebody listens or not', async () => {
  const work = () => timed('claim', {}, async () => 42);
  expect(await work()).toBe(42);
  await listenDuring(async () => expect(await work()).toBe(42));
});

it('timed work that fails announces its time and throws its own error', async () => {
  const failure = new Error('the work failed');
  const heard = await listenDuring(() =>
    timed('claim', {}, () => Promise.reject(failure)).then(
      () => expect.unreachable(),
      (error) => expect(error).toBe(failure),
    ),
  );
  expect(heard.map(({ name }) => name)).toEqual(['claim']);
});

it('a listener that has stopped hears nothing more', async () => {
  const heard = await listenDuring(async () => undefined);
  announceSpan({ name: 'claim', startedAt: 1, endedAt: 2, facts: {} });
  expect(heard).toEqual([]);
});

it('the time of spans is that of the clock, in milliseconds', () => {
  expect(Math.abs(now() - Date.now())).toBeLessThan(60_000);
});
