import { rmSync } from 'node:fs';
import { runApi } from '#api/main.ts';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { expectKnownActions } from '../access/audited-actions.ts';
import { createTestConfig } from '../config.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';

/** The API over HTTP on a database of its own, without any worker. */
export interface TestApi {
  readonly config: Config;
  readonly url: string;
  readonly adminUrl: string;
  readonly database: TestDatabase;
  /** The test's own way into the database. */
  readonly orm: Orm;
  close(): Promise<void>;
}

/** Nobody is in its database yet: tests make the people that they need. */
export async function startApi(overrides: Record<string, string> = {}): Promise<TestApi> {
  const database = await createDatabase();
  const config = createTestConfig(database.url, overrides);
  const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 8 });
  const api = await runApi(config);
  return {
    ...{ config, database, orm, url: api.url, adminUrl: api.adminUrl },
    close: async () => {
      await api.close();
      await expectKnownActions(orm);
      await orm.close();
      await database.drop();
      rmSync(config.dataDir, { recursive: true, force: true });
    },
  };
}
