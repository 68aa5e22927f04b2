import { mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Config, loadConfig } from '#config';

/** A complete configuration that uses the test run's servers, with free ports, a new data directory and a secret key. */
export function createTestConfig(databaseUrl: string, overrides: Record<string, string> = {}): Config {
  const scratch = inject('scratchDirectory');
  const dataDir = mkdtempSync(join(scratch, 'data-'));
  // The first worker of the test run bundles the workflows, and the others load that bundle.
  symlinkSync(join(scratch, 'cache'), join(dataDir, 'cache'));
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
