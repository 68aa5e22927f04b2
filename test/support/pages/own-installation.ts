import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { loadConfig } from '#config';
import { startPostgres } from '#local/postgres/postgres.ts';
import { migrate } from '#migrate';
import { openDatabase } from '#open-database';
import { openApi, type TestApi } from '../api/in-process-api.ts';

/** Starts the API on a PostgreSQL of its own, for a script that runs outside of a test. Nothing sends work to an engine. */
export async function startOwnApi(): Promise<TestApi> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-pages-'));
  chmodSync(directory, 0o711);
  const postgres = await startPostgres({
    dataDir: directory,
    logFile: join(directory, 'postgres.log'),
    isDurable: false,
    sockets: null,
  });
  await migrate({ databaseUrl: postgres.url });
  const config = loadConfig({
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: join(directory, 'data'),
    COORDINATOR_SECRET_KEYS: `pages:${Buffer.alloc(32, 7).toString('base64')}`,
    COORDINATOR_ISSUER: 'https://coordinator.example.com',
    COORDINATOR_REQUESTS_PER_PRINCIPAL: '0',
    LOG_LEVEL: 'silent',
  });
  const orm = openDatabase(config);
  const giveBack = async () => {
    await orm.close();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return openApi(config, pino({ level: 'silent' }), { orm, giveBack });
}
