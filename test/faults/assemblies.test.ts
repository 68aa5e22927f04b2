import { expect, it } from 'vitest';
import { disruptGrid, removeRequester } from './assemblies.ts';
import { openInstallation } from './harness/installation.ts';

/** A short version of `npm run test:faults -- --only assemblies`. */
it('killing worker, Temporal and PostgreSQL in the middle of a grid of nodes loses none and repeats none', {
  timeout: 240_000,
}, async () => {
  const installation = await openInstallation();
  try {
    const report = await disruptGrid(installation, { rows: 3, columns: 4 });
    await removeRequester(installation);
    expect(installation.violations, `the logs are in ${installation.directory}`).toEqual([]);
    expect(report).toMatchObject({ nodes: 12, runs: 12 });
  } finally {
    await installation.close(installation.violations.length > 0);
  }
});
