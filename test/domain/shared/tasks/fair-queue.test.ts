import { expect, it } from 'vitest';
import { ProcessorBudget } from '#domain/shared/evaluation/processor-budget.ts';
import { FairQueue } from '#domain/shared/tasks/fair-queue.ts';

const one = (name: string) => ({ person: name, owner: name });
const member = (person: string) => ({ person, owner: 'acme' });

it('people take turns in the queue, and each has one running task', () => {
  const queue = new FairQueue<string>();
  for (const task of ['a1', 'a2', 'a3']) queue.add(one('a'), task);
  queue.add(one('b'), 'b1');
  expect(queue.take()?.task).toBe('a1');
  expect(queue.take()?.task).toBe('b1');
  expect(queue.take()).toBeUndefined();
  queue.finish(one('b'));
  expect(queue.take()).toBeUndefined();
  queue.add(one('c'), 'c1');
  queue.finish(one('a'));
  expect([queue.take()?.task, queue.take()?.task, queue.count(one('a'))]).toEqual(['a2', 'c1', 1]);
});

it('organizations take turns in the queue, however many people each has in it', () => {
  const queue = new FairQueue<string>();
  for (const person of ['a', 'b', 'c', 'd']) queue.add(member(person), person);
  queue.add(one('other'), 'other');
  expect([queue.take(), queue.take(), queue.take()].map((next) => next?.task)).toEqual(['a', 'other', 'b']);
});

it('one person has one running task for all organizations together', () => {
  const queue = new FairQueue<string>();
  queue.add({ person: 'ana', owner: 'acme' }, 'first');
  queue.add({ person: 'ana', owner: 'globex' }, 'second');
  expect([queue.count({ person: 'ana' }), queue.take()?.task, queue.take()?.task]).toEqual([2, 'first', undefined]);
});

it('used processor time becomes available again evenly over the window', () => {
  let now = 0;
  const budget = new ProcessorBudget({ milliseconds: 1_000, sharesOfOwner: 6, windowSeconds: 10 }, () => now);
  budget.charge(one('ana'), 999);
  expect(budget.secondsUntilFree(one('ana'))).toBe(0);
  budget.charge(one('ana'), 501);
  expect(budget.secondsUntilFree(one('ana'))).toBe(5);
  expect(budget.secondsUntilFree(one('ben'))).toBe(0);
  now = 5_100;
  expect(budget.secondsUntilFree(one('ana'))).toBe(0);
});

it("each person of an organization has a budget, and all together have no more than the organization's share", () => {
  const budget = new ProcessorBudget({ milliseconds: 1_000, sharesOfOwner: 2, windowSeconds: 10 }, () => 0);
  for (const person of ['a', 'b', 'c']) budget.charge(member(person), 900);
  expect(budget.secondsUntilFree(member('d'))).toBe(4);
  expect(budget.secondsUntilFree(one('d'))).toBe(0);
});
