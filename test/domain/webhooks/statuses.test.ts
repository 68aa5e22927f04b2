import { expect, it } from 'vitest';
import { shownStatusOf } from '#domain/webhooks/model.ts';

it.each([
  ['pending', 0, 'pending'],
  ['pending', 1, 'retrying'],
  ['delivered', 3, 'delivered'],
  ['failed', 9, 'failed'],
] as const)('a delivery that is %s after %i tries is shown as %s', (status, attempts, shown) => {
  expect(shownStatusOf({ status, attempts })).toBe(shown);
});
