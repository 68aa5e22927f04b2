import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Generated requests take minutes: `npm run test:contract`.
    exclude: ['test/contract/**'],
    // The Temporal worker's native module needs processes. Tests often wait, so three of them keep two cores busy.
    pool: 'forks',
    maxWorkers: 3,
    // A process runs many files, because importing the service for each of them takes longer than most files.
    isolate: false,
    // Files that share a process must not share spies.
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/support/services.ts'],
    setupFiles: ['test/support/prepared-statements.ts', 'test/support/tools-on-path.ts'],
    // Only a test that fails waits this long. A busy machine is slow, and polls more than the second that is Vitest's default.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 100 } },
    teardownTimeout: 30_000,
  },
});
