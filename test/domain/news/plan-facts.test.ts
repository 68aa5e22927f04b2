import { expect, test } from 'vitest';
import { describePlan } from '#domain/news/plan-facts.ts';

const none = { add: 0, change: 0, destroy: 0 };

test('a message names changed outputs and failing checks, and counts what else the plan does', () => {
  const summary = {
    ...none,
    add: 2,
    destroy: 1,
    replace: 1,
    import: 1,
    move: 2,
    forget: 1,
    outputs: 2,
    checks: 1,
    warnings: 1,
    actions: 2,
    deferred: 1,
  };
  expect(describePlan({ summary, outputs: ['url', 'zone'], checks: ['check.health'] })).toEqual([
    'The plan: 1 to destroy, 2 to add, 1 of them replaced, 1 to import, 2 to move, 1 to forget, 2 outputs change, 2 actions, 1 deferred change, 1 check fails, 1 warning.',
    'Outputs that change: url, zone',
    'Checks that fail: check.health',
  ]);
});

test('a message names the first outputs of many, and says how many more there are', () => {
  const summary = { ...none, outputs: 9 };
  expect(describePlan({ summary, outputs: ['a', 'b', 'c', 'd', 'e'], checks: [] })).toEqual([
    'The plan: no resource changes, 9 outputs change.',
    'Outputs that change: a, b, c, d, e (and 4 more)',
  ]);
});

test('a message only counts outputs once their names were deleted with the plan', () => {
  expect(describePlan({ summary: { ...none, outputs: 9 }, outputs: [], checks: [] })).toEqual([
    'The plan: no resource changes, 9 outputs change.',
  ]);
});

test('a message counts only resources if an earlier release stored the summary', () => {
  expect(describePlan({ summary: { add: 1, change: 2, destroy: 3 }, outputs: [], checks: [] })).toEqual([
    'The plan: 3 to destroy, 2 to change, 1 to add.',
  ]);
});
