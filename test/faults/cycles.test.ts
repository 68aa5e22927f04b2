import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { readSeed } from '#test/support/seed.ts';
import { runCycles } from './harness/cycles.ts';
import type { Disruption } from './harness/disruptions.ts';

/** `npm run test:faults` disrupts in many cycles, and `npm test` in one of these. The title contains the seed that chose it (`CYCLES_SEED`). */
const cycles: readonly (readonly Disruption[])[] = [
  ['worker in apply', 'api between commit and workflow start'],
  ['postgres', 'temporal'],
];
const seed = readSeed('CYCLES_SEED');

/** A short version of `npm run test:faults`: disrupts real processes and checks the installation when it is idle. */
it(`killing processes at work loses nothing, repeats nothing and leaves nothing behind (seed ${seed})`, {
  timeout: 240_000,
}, async () => {
  const report = await runCycles({
    seed,
    cycles: 1,
    runsPerCycle: 10,
    disruptions: [cycles[seed % cycles.length]!],
    cache: join(inject('scratchDirectory'), 'cache'),
    report: (line) => console.log(line),
  });
  expect(report.violations, `seed ${seed}, the logs are in ${report.directory}`).toEqual([]);
  expect(report.cycles).toBe(1);
  expect(report.runs).toBeGreaterThanOrEqual(10);
});
