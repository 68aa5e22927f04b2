import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { migrations } from '../../migrations/index.ts';
import { BindingDriver } from './connection.ts';
import { makePartitions, monthlyTables } from './partitions.ts';
import { avoidCompiling, guardPool, readJsonBy } from './pool.ts';
import { queriesOf } from './queries.ts';

/** Tables that are partitioned by time or not logged. Only migrations can create them, so they are not compared with entities. */
const tablesOfMigrations = [...monthlyTables.map((table) => new RegExp(`^${table}`)), /^rate_counts/];

/** Views that keep the previous release's queries working. */
const viewsForEarlierRelease = ['run_events'];

export type Orm = MikroORM;
/** The entity manager of one request or one transaction. It contains the transaction, if there is one. */
export type Em = EntityManager;

/** The entities that MikroORM maps to tables. */
export type Entities = readonly EntitySchema[];

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** A connection counts as broken when a statement gets no answer for this long; 0: never. */
  readonly answerWithinMs?: number;
}

const connectWithinMs = 5_000;
const answerWithinMs = 60_000;

/** Opens a pool of connections to PostgreSQL. It connects at the first query. `parseJson` reads columns of JSON. */
export function openOrm(settings: DatabaseSettings, entities: Entities, parseJson: (text: string) => unknown): Orm {
  return new MikroORM({
    driver: BindingDriver,
    clientUrl: settings.databaseUrl,
    entities: [...entities],
    extensions: [Migrator],
    pool: { min: 0, max: settings.databasePoolSize, idleTimeoutMillis: 30_000 },
    migrations: { migrationsList: [...migrations], snapshot: false, tableName: 'migrations', silent: true },
    schemaGenerator: {
      skipTables: tablesOfMigrations,
      skipViews: viewsForEarlierRelease,
      disableForeignKeys: false,
    },
    forceUtcTimezone: true,
    driverOptions: {
      application_name: 'delivery-coordinator',
      connectionTimeoutMillis: connectWithinMs,
      keepAlive: true,
      pipeline: true,
      onPoolCreated: (pool: Pool) => {
        readJsonBy(parseJson, pool);
        guardPool(pool, settings.answerWithinMs ?? answerWithinMs);
        avoidCompiling(pool);
      },
    },
  });
}

/**
 * Applies the missing migrations, and returns their names. Concurrent callers wait for each other.
 * @throws Error if a later release has migrated the database
 */
export async function applyMigrations(orm: Orm): Promise<string[]> {
  return orm.em.fork().transactional(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('delivery-coordinator/migrate', 0))`.execute(queriesOf(tx));
    await refuseLaterRelease(orm);
    const applied = await orm.migrator.up();
    await makePartitions(tx);
    return applied.map((migration) => migration.name);
  });
}

/** @throws Error if the database does not answer */
export async function checkConnection(orm: Orm): Promise<void> {
  await orm.em.fork().execute('select 1');
}

/** The names of the missing migrations. This release works only with a database that has all of them. */
export async function pendingMigrations(orm: Orm): Promise<string[]> {
  const pending = await orm.migrator.getPending();
  return pending.map((migration) => migration.name);
}

async function refuseLaterRelease(orm: Orm): Promise<void> {
  const known = new Set(migrations.map((migration) => migration.name));
  const executed = await orm.migrator.getExecuted();
  const unknown = executed.filter((row) => !known.has(row.name));
  if (unknown.length === 0) return;
  throw new Error(
    `The database was migrated by a later release (${unknown.map((row) => row.name).join(', ')}): start that release, or give another DATABASE_URL.`,
  );
}
