import { expect, it } from 'vitest';
import { countDeviations, describePerpetual } from '#domain/drift/findings/perpetual-words.ts';

it.each([
  [1, 0, 'a new deviation'],
  [3, 0, '3 new deviations'],
  [1, 1, 'a new deviation, which differs at each plan'],
  [3, 3, '3 new deviations, which differ at each plan'],
  [3, 1, '3 new deviations, 1 of which differs at each plan'],
])('a notification of %i new deviations, %i of which differ at each plan, says so', (opened, perpetual, text) => {
  expect(countDeviations(opened, perpetual)).toBe(text);
});

it('a notification gives advice only on values that differ at each plan', () => {
  expect(describePerpetual(0, 2)).toBeNull();
  expect(describePerpetual(1, 1)).toBe(
    'The configuration gives it another value at each plan, for example by timestamp(). Add ignore_changes to the resource, or suppress the finding.',
  );
  expect(describePerpetual(2, 3)).toContain('gives 2 of them another value at each plan');
  expect(describePerpetual(2, 2)).toMatch(/gives all of them .* suppress the findings\.$/);
});
