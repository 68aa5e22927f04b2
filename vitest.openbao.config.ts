import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** A real OpenBao that trusts the tokens of runs: `npm run test:openbao`. It needs `bao` on the search path. */
export default defineConfig({
  test: { ...base.test, include: ['test/openbao/**/*.proof.ts'], exclude: [] },
});
