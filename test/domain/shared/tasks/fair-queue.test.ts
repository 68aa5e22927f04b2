import { expect, it } from 'vitest';
import { ProcessorBudget } from '#domain/shared/evaluation/processor-budget.ts';
import { FairQueue } from '#domain/shared/tasks/fair-queue.ts';

it('owners take turns, and each has one task under way', () => {
  const queue = new FairQueue<string>();
  for (const task of ['a1', 'a2', 'a3']) queue.add('a', task);
  queue.add('b', 'b1');
  expect(queue.take()?.task).toBe('a1');
  expect(queue.take()?.task).toBe('b1');
  expect(queue.take()).toBeUndefined();
  queue.finish('b');
  expect(queue.take()).toBeUndefined();
  queue.add('c', 'c1');
  queue.finish('a');
  expect([queue.take()?.task, queue.take()?.task, queue.count('a')]).toEqual(['a2', 'c1', 1]);
});

it('processor time that was used comes back evenly over the window', () => {
  let now = 0;
  const budget = new ProcessorBudget({ milliseconds: 1_000, windowSeconds: 10 }, () => now);
  budget.charge('ana', 999);
  expect(budget.secondsUntilFree('ana')).toBe(0);
  budget.charge('ana', 501);
  expect(budget.secondsUntilFree('ana')).toBe(5);
  expect(budget.secondsUntilFree('ben')).toBe(0);
  now = 5_100;
  expect(budget.secondsUntilFree('ana')).toBe(0);
});
