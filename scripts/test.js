import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { recordDurations, showGroups, showSlowest } from './test/figures.js';
import { addToTally } from './test/tally.js';
import { runVitest } from './test/vitest.js';

/**
 * Runs every check, even after one has failed. The last line is `N passed, N failed` and counts each check and each test.
 * Passes its arguments to Vitest: `npm test -- test/api`. With `--record`, it writes down how long the longest files took, for
 * `test/support/longest-first.ts`; with `--tally`, whether a test failed at its first try (`scripts/steady.js`).
 */
const checks = [
  ['Format and lint', 'biome', ['check', '--error-on-warnings']],
  // More checkers would finish sooner alone, but each would check much again that another has checked.
  ['Types', 'tsc', ['--noEmit', '--project', '.', '--checkers', '1']],
  ['Types of the scripts of pages', 'tsc', ['--noEmit', '--project', 'tsconfig.client.json']],
  ['Dependency direction', 'node', ['scripts/check-dependencies.js']],
];

/** More files than this are not cut off by a crash of one or two processes. */
const maxRepeated = 3;

const ownFlags = ['--record', '--tally'];
const given = process.argv.slice(2).filter((argument) => !ownFlags.includes(argument));
const [isRecording, isTallied] = ownFlags.map((flag) => process.argv.includes(flag));
if (isTallied && given.length > 0) throw new Error('--tally is for runs of all tests: leave the other arguments out');

const totals = { passed: 0, failed: 0 };
const startedAt = Date.now();

// Tests often wait, so the other checks run beside them. They are shown after the tests.
const checked = runChecks();
console.log('\n── Tests');
await runTests(given);
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

function count(passed, all) {
  totals.passed += passed;
  totals.failed += all - passed;
}

/** A skipped test does not count. A test run that crashes or finds no tests counts as one failure. */
async function runTests(given) {
  const first = await runVitest(given);
  const again = findFilesToRepeat(first);
  const second = again.length > 0 ? await repeat(first, again) : null;
  const kept = [...first.files].filter(([file]) => !again.includes(file)).map(([, counts]) => counts);
  for (const { passed, failed } of [...kept, ...(second ? [...second.files.values()] : [])])
    count(passed, passed + failed);
  const last = second ?? first;
  showSlowest(first.files);
  showGroups(first.files);
  if (isRecording) recordDurations(first.files);
  if (isTallied) addToTally(first, startedAt);
  const isEmpty = kept.length === 0 && (second?.files.size ?? 0) === 0;
  const hasFailed = [...last.files.values()].some(({ failed }) => failed > 0);
  if (isEmpty || (!last.isDone && !hasFailed)) count(0, 1);
}

/**
 * A failed test fails the run. Only files that a crash of the JavaScript engine cut off run once more, alone: in about one of twenty runs,
 * Node 24 ends one or two test processes by a segmentation fault.
 */
function findFilesToRepeat({ crash }) {
  return crash.others > 0 || crash.files.length > maxRepeated ? [] : crash.files;
}

async function repeat({ crash }, again) {
  for (const signal of crash.signals) console.log(`\n── A test process ended by ${signal}.`);
  console.log(`\n── These files were cut off, and run once more:\n${again.join('\n')}`);
  return runVitest(again);
}
