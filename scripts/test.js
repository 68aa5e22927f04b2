import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs every check, each one also when an earlier one failed, and ends with a line `N passed, N failed`, which counts each
 * check and each test. Arguments are handed to Vitest: `npm test -- test/api`.
 */
const checks = [
  ['Format and lint', 'biome', ['check', '--error-on-warnings']],
  ['Types', 'tsc', ['--noEmit', '--project', '.']],
  ['Dependency direction', 'node', ['scripts/check-dependencies.js']],
];

const totals = { passed: 0, failed: 0 };
const startedAt = Date.now();

for (const [name, program, given] of checks) {
  console.log(`\n── ${name}`);
  count(run(program, given) ? 1 : 0, 1);
}
console.log('\n── Tests');
runTests(process.argv.slice(2));
console.log(`\nAll checks took ${Math.round((Date.now() - startedAt) / 1000)} s.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);

function run(program, given) {
  return spawnSync(program, given, { stdio: 'inherit' }).status === 0;
}

function count(passed, all) {
  totals.passed += passed;
  totals.failed += all - passed;
}

/** Skipped tests count as neither; a run that broke, or found no test, counts as one that failed. */
function runTests(given) {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-report-'));
  const report = join(directory, 'report.json');
  const isDone = run('vitest', [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...given,
  ]);
  const { numPassedTests = 0, numFailedTests = 0 } = readReport(report);
  rmSync(directory, { recursive: true, force: true });
  count(numPassedTests, numPassedTests + numFailedTests);
  const isBroken = numPassedTests === 0 || (!isDone && numFailedTests === 0);
  if (isBroken) count(0, 1);
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.error('The tests ended without a report.');
    return {};
  }
}
