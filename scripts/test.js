import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs every check, even after one has failed. The last line is `N passed, N failed` and counts each check and each test.
 * Passes its arguments to Vitest: `npm test -- test/api`.
 */
const checks = [
  ['Format and lint', 'biome', ['check', '--error-on-warnings']],
  ['Types', 'tsc', ['--noEmit', '--project', '.']],
  ['Types of the scripts of pages', 'tsc', ['--noEmit', '--project', 'tsconfig.client.json']],
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

/** A skipped test does not count. A test run that crashes or finds no tests counts as one failure. */
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
    console.error('Vitest did not write a report.');
    return {};
  }
}
