import { rmSync } from 'node:fs';
import { runApi } from '#api/main.ts';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { expectKnownActions } from '../access/audited-actions.ts';
import { createTestConfig } from '../config.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';

/** The API over HTTP on its own database, without a worker. */
export interface TestApi {
  readonly config: Config;
  readonly url: string;
  readonly adminUrl: string;
  readonly database: TestDatabase;
  /** The test's own connection to the database. */
  readonly orm: Orm;
  close(): Promise<void>;
}

/** Starts the API on a migrated database without users. */
export async function startApi(overrides: Record<string, string> = {}): Promise<TestApi> {
  const database = await createDatabase();
  const config = createTestConfig(database.url, overrides);
  const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 8 });
  const api = await runApi(config);
  return {
    config,
    database,
    orm,
    url: api.url,
    adminUrl: api.adminUrl,
    close: async () => {
      await api.close();
      await expectKnownActions(orm);
      await orm.close();
      await database.drop();
      rmSync(config.dataDir, { recursive: true, force: true });
    },
  };
}
