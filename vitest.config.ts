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
    testTimeout: 60_000,
    // A busy machine takes longer than the second that Vitest waits by default. A test that passes waits no longer for it.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
