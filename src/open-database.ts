import { applyMigrations, type DatabaseSettings, type Orm, openOrm } from '#database/database.ts';
import { entities } from '#domain/entities.ts';

/** Opens a pool to PostgreSQL for all areas of the service. Nothing is connected until the first query. */
export function openDatabase(settings: DatabaseSettings): Orm {
  return openOrm(settings, entities);
}

/** Brings the schema of a database to this release's, and names the migrations that it applied. */
export async function migrate(settings: Pick<DatabaseSettings, 'databaseUrl'>): Promise<string[]> {
  const orm = openDatabase({ ...settings, databasePoolSize: 2, answerWithinMs: 0 });
  try {
    return await applyMigrations(orm);
  } finally {
    await orm.close();
  }
}
