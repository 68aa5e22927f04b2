import { expect, it } from 'vitest';
import { fittingConcurrency } from '#worker/slots.ts';

const gibibyte = 1024 ** 3;

it.for([
  ['twice the cores where memory suffices', 1, { memory: 24 * gibibyte, cores: 2 }, 4],
  ['what memory bears where cores abound', 1, { memory: 2 * gibibyte, cores: 64 }, 4],
  ['a share for each of its pools', 3, { memory: 24 * gibibyte, cores: 8 }, 5],
  ['one, however small the machine is', 4, { memory: gibibyte / 4, cores: 1 }, 1],
] as const)('a worker executes at the same time %s', ([, pools, machine, slots]) => {
  expect(fittingConcurrency(pools, machine)).toBe(slots);
});
