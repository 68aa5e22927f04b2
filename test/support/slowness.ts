import { expect } from 'vitest';

/** The milliseconds of `workAsUsual` on a usual machine that does nothing else. */
const usualMs = 90;

function workAsUsual(): void {
  const items = Array.from({ length: 60_000 }, (_, n) => `{"a${n}":[${n},"${n * 7}"]}`);
  JSON.stringify(JSON.parse(`[${items.join()}]`));
}

/** How many times longer than usual this machine takes for some work now, since it is slower or others load it. At least 1. */
function measureSlowness(): number {
  const started = performance.now();
  workAsUsual();
  return Math.max(1, (performance.now() - started) / usualMs);
}

/** How many times as much processor time as usual this machine needs for some work: it is slower, however busy it is. At least 1. */
export function measureProcessorSlowness(): number {
  const started = process.threadCpuUsage();
  workAsUsual();
  const { user, system } = process.threadCpuUsage(started);
  return Math.max(1, (user + system) / 1000 / usualMs);
}

/**
 * Runs work that may take no more than `limitMs` on a usual machine. A slower or busy machine may take as many times longer as it takes for
 * other work right before or after it.
 */
export async function within<T>(limitMs: number, work: () => T | Promise<T>): Promise<T> {
  const before = measureSlowness();
  const started = performance.now();
  const result = await work();
  const took = performance.now() - started;
  expect(took).toBeLessThan(limitMs * Math.max(before, measureSlowness()));
  return result;
}
