import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The proofs in full, which `npm test` takes samples of: `npm run test:proofs`. */
export default defineConfig({
  test: { ...base.test, include: ['test/proofs/**/*.test.ts'], env: { PROOFS: 'all' }, hookTimeout: 300_000 },
});
