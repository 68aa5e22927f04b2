import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { toPath } from './figures.js';

/** One line of JSON for each run of all tests: whether any of them failed at its first try. Committed, so that sittings add up. */
const path = 'test/support/steadiness.jsonl';

/** Writes down how a run of all tests went. `files` are those of its first try. */
export function addToTally({ crash, files }, startedAt) {
  const counts = [...files.values()];
  const sum = (name) => counts.reduce((total, each) => total + each[name], 0);
  const line = {
    at: new Date(startedAt).toISOString(),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    passed: sum('passed'),
    failed: [...files].filter(([, { failed }]) => failed > 0).map(([file]) => toPath(file)),
    crashed: crash.files.map(toPath),
    errors: crash.others,
  };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

/** The number of the last runs in a row that ran tests, without a failed test or an error outside of them. A crash of a process is neither. */
export function countSteadyRuns() {
  if (!existsSync(path)) return 0;
  const lines = readFileSync(path, 'utf8').trim().split('\n').filter(Boolean);
  const runs = lines.map((line) => JSON.parse(line)).reverse();
  const first = runs.findIndex(({ passed, failed, errors }) => passed === 0 || failed.length > 0 || errors > 0);
  return first === -1 ? runs.length : first;
}
