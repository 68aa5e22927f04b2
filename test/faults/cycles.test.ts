import { expect, it } from 'vitest';
import { runCycles } from './harness/cycles.ts';

const seed = 20_261_121;

/** A short version of `npm run test:faults`: disrupts real processes and checks the installation when it is idle. */
it('killing processes at work loses nothing, repeats nothing and leaves nothing behind', {
  timeout: 240_000,
}, async () => {
  const report = await runCycles({
    seed,
    cycles: 2,
    runsPerCycle: 10,
    disruptions: [
      ['worker in apply', 'api between commit and workflow start'],
      ['postgres', 'temporal'],
    ],
    report: (line) => console.log(line),
  });
  expect(report.violations, `seed ${seed}, the logs are in ${report.directory}`).toEqual([]);
  expect(report).toMatchObject({ cycles: 2, runs: 26 });
});
