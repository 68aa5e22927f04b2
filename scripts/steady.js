import { spawnSync } from 'node:child_process';
import { countSteadyRuns } from './test/tally.js';

/**
 * Runs all checks again and again, until `--runs` of them (20) in a row had no failed test. Counts the runs of earlier sittings, so it can
 * be interrupted and started again. Ends with the first failed test.
 */
const at = process.argv.indexOf('--runs');
const wanted = at === -1 ? 20 : Number(process.argv[at + 1]);
if (!Number.isInteger(wanted) || wanted < 1) {
  console.error('Usage: npm run test:steady -- [--runs <n>]');
  process.exit(2);
}

for (let steady = countSteadyRuns(); steady < wanted; ) {
  console.log(`\n══ Run ${steady + 1} of ${wanted}`);
  const { status, signal } = spawnSync('node', ['scripts/test.js', '--tally'], { stdio: 'inherit' });
  const now = countSteadyRuns();
  if (signal !== null || now !== steady + 1) {
    console.error(
      `\nThis run does not count (${signal ?? `exit code ${status}`}). ${now} of ${wanted} runs in a row were steady.`,
    );
    process.exit(1);
  }
  steady = now;
}
console.log(`\n${wanted} runs in a row had no failed test.`);
