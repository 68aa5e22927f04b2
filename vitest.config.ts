import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Generated requests take minutes: `npm run test:contract`.
    exclude: ['test/contract/**'],
    // The Temporal worker's native module needs processes of its own; two of them suit two cores.
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/support/services.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
