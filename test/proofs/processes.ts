import { inject } from 'vitest';
import type { Config } from '#config';
import { type ApiProcess, startApiProcess } from '#test/support/api/api-process.ts';

/** Starts another API process of an installation, without rate limits. */
export function startProcess(config: Config): Promise<ApiProcess> {
  return startApiProcess({
    DATABASE_URL: config.databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    LOG_LEVEL: 'silent',
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: config.dataDir,
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    COORDINATOR_REQUESTS_PER_PRINCIPAL: '0',
    COORDINATOR_REQUESTS_PER_ADDRESS: '0',
  });
}
