import { type DatabaseSettings, type Orm, openOrm } from '#database/database.ts';
import { entities } from '#domain/entities.ts';
import { parseWrittenJson } from '#domain/shared/values/exact-json.ts';

/** Opens a connection pool that knows the entities of every area. It connects at the first query. */
export function openDatabase(settings: DatabaseSettings): Orm {
  return openOrm(settings, entities, parseWrittenJson);
}

/** Opens the database for one piece of work and closes it afterwards, for commands that end with their work. */
export async function withDatabase<T>(settings: DatabaseSettings, work: (orm: Orm) => Promise<T>): Promise<T> {
  const orm = openDatabase(settings);
  try {
    return await work(orm);
  } finally {
    await orm.close();
  }
}
