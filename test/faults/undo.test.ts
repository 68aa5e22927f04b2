import { expect, it } from 'vitest';
import { openInstallation } from './harness/installation.ts';
import { disruptUndo } from './undo.ts';

/** The same as `npm run test:faults -- --only undo`. */
it('killing workers, Temporal and PostgreSQL in the middle of an undo loses no step of it and repeats none', {
  timeout: 400_000,
}, async () => {
  const installation = await openInstallation();
  try {
    await disruptUndo(installation);
    expect(installation.violations, `the logs are in ${installation.directory}`).toEqual([]);
  } finally {
    await installation.close(installation.violations.length > 0);
  }
});
