import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Requests that are generated from the OpenAPI document: `npm run test:contract`. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/contract/**/*.test.ts'],
    exclude: [],
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
  },
});
