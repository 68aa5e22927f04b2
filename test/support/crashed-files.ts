import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/** Vitest says so of a test process that a signal ended, such as a segmentation fault of the JavaScript engine. */
const crash = /exited unexpectedly with signal (SIG[A-Z]+)/;

/** What `scripts/test.js` reads when a test process has crashed. */
export interface CrashReport {
  readonly signals: readonly string[];
  /** The test files that such a process did not finish. */
  readonly files: readonly string[];
  /** Errors outside of tests that are no crash. */
  readonly others: number;
}

/** Writes which test files a crashed process did not finish. The variable `CRASH_REPORT` names the file that it writes. */
export default class CrashedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env['CRASH_REPORT'];
    if (!path) return;
    const signals = errors.flatMap((error) => crash.exec(`${error.message} ${error.cause?.message}`)?.[1] ?? []);
    const unfinished = modules.filter((module) => ['queued', 'pending'].includes(module.state()));
    const files = unfinished.map(({ moduleId }) => moduleId);
    const report: CrashReport = { signals, files, others: errors.length - signals.length };
    writeFileSync(path, JSON.stringify(report));
  }
}
