import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

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

// Tests often wait, so the other checks run beside them. They are shown after the tests.
const checked = runChecks();
console.log('\n── Tests');
await runTests(process.argv.slice(2));
for (const { name, output, isPassed } of await checked) {
  console.log(`\n── ${name}\n${output.trimEnd()}`);
  count(isPassed ? 1 : 0, 1);
}
console.log(`\nAll checks took ${Math.round((Date.now() - startedAt) / 1000)} s.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);

/** Runs the checks one after another, which leaves most of the machine to the tests. */
async function runChecks() {
  const results = [];
  for (const [name, program, given] of checks) results.push({ name, ...(await runQuietly(program, given)) });
  return results;
}

async function runQuietly(program, given) {
  const child = spawn(program, given, { stdio: ['ignore', 'pipe', 'pipe'] });
  const outcome = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return outcome.then(
    ([[code], stdout, stderr]) => ({ output: stdout + stderr, isPassed: code === 0 }),
    (error) => ({ output: `${program} could not be started: ${error.message}`, isPassed: false }),
  );
}

/** Resolves to whether the program succeeded. Its output is shown while it runs. */
async function run(program, given, environment = {}) {
  const child = spawn(program, given, { stdio: 'inherit', env: { ...process.env, ...environment } });
  return once(child, 'close').then(
    ([code]) => code === 0,
    (error) => {
      console.error(`${program} could not be started: ${error.message}`);
      return false;
    },
  );
}

function count(passed, all) {
  totals.passed += passed;
  totals.failed += all - passed;
}

/** A skipped test does not count. A test run that crashes or finds no tests counts as one failure. */
async function runTests(given) {
  const first = await runVitest(given);
  const isRepeated = hasOneCrash(first);
  if (isRepeated) {
    console.log(
      `\n── A test process ended by ${first.crash.signals[0]}. The files that it did not finish run once more.`,
    );
    console.log(first.crash.files.join('\n'));
  }
  const results = isRepeated ? [first, await runVitest(first.crash.files)] : [first];
  for (const { passed, failed } of results) count(passed, passed + failed);
  const last = results.at(-1);
  const isBroken = last.passed === 0 || (!last.isDone && last.failed === 0);
  if (isBroken) count(0, 1);
}

/**
 * The JavaScript engine itself can crash: once in some twenty runs, Node 24 ended a test process by a segmentation fault. Tests
 * that had no chance to end say nothing, so they get a second one. A second crash in the same run is a failure.
 */
function hasOneCrash({ crash }) {
  return crash.signals.length === 1 && crash.others === 0 && crash.files.length > 0;
}

async function runVitest(given) {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-report-'));
  const [report, crashReport] = [join(directory, 'report.json'), join(directory, 'crash.json')];
  const reporters = ['default', 'json', './test/support/crashed-files.ts'].map((name) => `--reporter=${name}`);
  const isDone = await run('vitest', ['run', ...reporters, `--outputFile.json=${report}`, ...given], {
    CRASH_REPORT: crashReport,
  });
  const { numPassedTests = 0, numFailedTests = 0 } = readReport(report) ?? {};
  const crash = readReport(crashReport) ?? { signals: [], files: [], others: 0 };
  rmSync(directory, { recursive: true, force: true });
  return { isDone, passed: numPassedTests, failed: numFailedTests, crash };
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.error('Vitest did not write a report.');
    return undefined;
  }
}
