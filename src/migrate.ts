import { applyMigrations, type DatabaseSettings, openOrm } from '#database/database.ts';
import { parseWrittenJson } from '#domain/shared/values/exact-json.ts';

/**
 * Brings the schema of a database to this release's, and names the migrations that it applied. Migrations are statements, so it loads no
 * entities: they take most of the time that a process needs to open a database.
 */
export async function migrate({ databaseUrl }: Pick<DatabaseSettings, 'databaseUrl'>): Promise<string[]> {
  const orm = openOrm({ databaseUrl, databasePoolSize: 2, answerWithinMs: 0 }, [], parseWrittenJson);
  try {
    return await applyMigrations(orm);
  } finally {
    await orm.close();
  }
}
