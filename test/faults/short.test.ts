import { expect, it } from 'vitest';
import { runCycles } from './harness/cycles.ts';

const seed = 20_261_121;

/** The short version of `npm run test:faults`: one blow after another to real processes, checked once all is at rest. */
it('what is killed while it works loses nothing, doubles nothing and leaves nothing behind', {
  timeout: 240_000,
}, async () => {
  const report = await runCycles({
    seed,
    cycles: 2,
    runsPerCycle: 10,
    blows: [
      ['worker in apply', 'api between commit and workflow start'],
      ['postgres', 'temporal'],
    ],
    report: (line) => console.log(line),
  });
  expect(report.faults, `seed ${seed}, logs are kept in ${report.directory}`).toEqual([]);
  expect(report).toMatchObject({ cycles: 2, runs: 26 });
});
