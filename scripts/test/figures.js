import { writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** The number of files and of folders that are named when the tests have ended: shorten these first when the run takes too long. */
const maxNamed = 20;

/** Shorter files begin in any order. */
const minRecordedSeconds = 5;
const recordPath = 'test/support/durations.json';

/** Prints the files that took longest. */
export function showSlowest(files) {
  console.log('\n── Slowest files');
  for (const [file, { seconds }] of slowestFirst(files).slice(0, maxNamed)) showSeconds(seconds, toPath(file));
}

/** Prints how long the files took together of each folder of tests, such as `test/api/runs`. */
export function showGroups(files) {
  const groups = new Map();
  for (const [file, { seconds }] of files) {
    const folder = dirname(toPath(file)).split('/').slice(0, 3).join('/');
    groups.set(folder, { seconds: (groups.get(folder)?.seconds ?? 0) + seconds });
  }
  console.log('\n── Seconds by folder, each file by itself');
  for (const [folder, { seconds }] of slowestFirst(groups).slice(0, maxNamed)) showSeconds(seconds, folder);
}

function showSeconds(seconds, name) {
  console.log(`${String(Math.round(seconds)).padStart(5)} s  ${name}`);
}

/** Writes down how long the longest files took, for `test/support/longest-first.ts`. */
export function recordDurations(files) {
  const long = slowestFirst(files).filter(([, { seconds }]) => seconds >= minRecordedSeconds);
  const recorded = Object.fromEntries(long.map(([file, { seconds }]) => [toPath(file), Math.round(seconds)]));
  writeFileSync(recordPath, `${JSON.stringify(recorded, null, 2)}\n`);
}

function slowestFirst(entries) {
  return [...entries].sort(([, one], [, other]) => other.seconds - one.seconds);
}

/** A file by its path in the project. */
export function toPath(file) {
  return relative(process.cwd(), file);
}
