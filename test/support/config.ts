import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Config, loadConfig } from '#config';
import { shareCaches } from './directories.ts';

/** A complete configuration that uses the test run's servers, with free ports, a new data directory and a secret key. */
export function createTestConfig(databaseUrl: string, overrides: Record<string, string> = {}): Config {
  const scratch = inject('scratchDirectory');
  const dataDir = mkdtempSync(join(scratch, 'data-'));
  shareCaches(dataDir);
  return loadConfig({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: dataDir,
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'silent',
    // Nothing listens there, so a test of a webhook fails at once.
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.9',
    ...overrides,
  });
}
