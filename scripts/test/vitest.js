import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs Vitest with these arguments. Resolves to whether it succeeded, to the processes that crashed, and to how many tests of each file
 * passed and failed, in how many seconds.
 */
export async function runVitest(given) {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-report-'));
  const [report, crashReport] = [join(directory, 'report.json'), join(directory, 'crash.json')];
  const reporters = ['default', 'json', './test/support/crashed-files.ts'].map((name) => `--reporter=${name}`);
  const isDone = await run('vitest', ['run', ...reporters, `--outputFile.json=${report}`, ...given], {
    CRASH_REPORT: crashReport,
  });
  const { testResults = [] } = readReport(report) ?? {};
  const crash = readReport(crashReport) ?? { signals: [], files: [], others: 0 };
  rmSync(directory, { recursive: true, force: true });
  return { isDone, crash, files: new Map(testResults.map((file) => [file.name, countTests(file, crash)])) };
}

/** A file whose set-up failed has failed, even if it has no failed test. */
function countTests({ name, status, startTime, endTime, assertionResults }, crash) {
  const of = (wanted) => assertionResults.filter((test) => test.status === wanted).length;
  const isBroken = status === 'failed' && of('failed') === 0 && !crash.files.includes(name);
  return { passed: of('passed'), failed: of('failed') + (isBroken ? 1 : 0), seconds: (endTime - startTime) / 1000 };
}

/** Resolves to whether the program succeeded. Its output is shown while it runs. */
async function run(program, given, environment) {
  const child = spawn(program, given, { stdio: 'inherit', env: { ...process.env, ...environment } });
  return once(child, 'close').then(
    ([code]) => code === 0,
    (error) => {
      console.error(`${program} could not be started: ${error.message}`);
      return false;
    },
  );
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.error('Vitest did not write a report.');
    return undefined;
  }
}
