import { applyMigrations, type DatabaseSettings, type Orm, openOrm } from '#database/database.ts';
import { entities } from '#domain/entities.ts';

/** Opens a connection pool that knows the entities of every area. It connects at the first query. */
export function openDatabase(settings: DatabaseSettings): Orm {
  return openOrm(settings, entities);
}

/** Applies the migrations that a database lacks. @returns their names */
export async function migrate(settings: Pick<DatabaseSettings, 'databaseUrl'>): Promise<string[]> {
  const orm = openDatabase({ ...settings, databasePoolSize: 2, answerWithinMs: 0 });
  try {
    return await applyMigrations(orm);
  } finally {
    await orm.close();
  }
}
