import { expect, it } from 'vitest';
import { fittingConcurrency } from '#worker/slots.ts';

const gibibyte = 1024 ** 3;

it.for([
  ['two attempts for each core where memory suffices', 1, { memory: 24 * gibibyte, cores: 2 }, 4],
  ['as many attempts as fit in memory where there are many cores', 1, { memory: 2 * gibibyte, cores: 64 }, 4],
  ['a share of them in each of its pools', 3, { memory: 24 * gibibyte, cores: 8 }, 5],
  ['one attempt even on a small machine', 4, { memory: gibibyte / 4, cores: 1 }, 1],
] as const)('a worker executes %s at once by default', ([, pools, machine, slots]) => {
  expect(fittingConcurrency(pools, machine)).toBe(slots);
});
