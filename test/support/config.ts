import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Config, loadConfig } from '#config';

/** A complete configuration that uses the test run's servers, with free ports, a new data directory and a secret key. */
export function createTestConfig(databaseUrl: string, overrides: Record<string, string> = {}): Config {
  return loadConfig({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: mkdtempSync(join(inject('scratchDirectory'), 'data-')),
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'silent',
    ...overrides,
  });
}
