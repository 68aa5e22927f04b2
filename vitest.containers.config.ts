import { defineConfig } from 'vitest/config';

/** What docker-compose.yml runs, run as plain processes: `npm run test:containers`. It needs nothing that `npm test` starts. */
export default defineConfig({
  test: { include: ['test/containers/**/*.proof.ts'], pool: 'forks', testTimeout: 600_000, hookTimeout: 900_000 },
});
