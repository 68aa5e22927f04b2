import { defineConfig, type TestUserConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const tests: TestUserConfig = {
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
};

/** The suites, by what the variable `SUITE` says. Without it: all tests that `npm test` runs. */
const suites: Record<string, TestUserConfig> = {
  tests,
  /** The proofs in full, which `npm test` takes samples of: `npm run test:proofs`. */
  proofs: { ...tests, include: ['test/proofs/**/*.test.ts'], env: { PROOFS: 'all' }, hookTimeout: 300_000 },
  /** Requests that are generated from the OpenAPI document: `npm run test:contract`. */
  contract: {
    ...tests,
    include: ['test/contract/**/*.test.ts'],
    exclude: [],
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
  },
  /** A real OpenBao that trusts the tokens of runs: `npm run test:openbao`. It needs `bao` on the search path. */
  openbao: { ...tests, include: ['test/openbao/**/*.proof.ts'], exclude: [] },
  /** What docker-compose.yml runs, run as plain processes: `npm run test:containers`. It needs nothing that `npm test` starts. */
  containers: {
    include: ['test/containers/**/*.proof.ts'],
    pool: 'forks',
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
  /** The recording of workflow histories, which is no test: `npm run record-histories`. */
  histories: { ...tests, include: ['test/workflow/record-histories.ts'] },
};

const suite = suites[process.env.SUITE ?? 'tests'];
if (!suite) throw new Error(`SUITE is none of ${Object.keys(suites).join(', ')}`);

export default defineConfig({ test: suite });
