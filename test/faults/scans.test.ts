import { expect, it } from 'vitest';
import { openInstallation } from './harness/installation.ts';
import { disruptScans } from './scans.ts';

/** A short version of `npm run test:faults -- --only scans`. */
it('killing worker, Temporal and PostgreSQL during scans leaves none behind, and each ends as it should', {
  timeout: 240_000,
}, async () => {
  const installation = await openInstallation();
  try {
    const report = await disruptScans(installation, { instances: 2 });
    expect(installation.violations, `the logs are in ${installation.directory}`).toEqual([]);
    expect(report.scans).toBe(6);
  } finally {
    await installation.close(installation.violations.length > 0);
  }
});
