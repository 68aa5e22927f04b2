import { Socket } from 'node:net';
import { Migrator } from '@mikro-orm/migrations';
import { EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';
import { migrations } from '../../migrations/index.ts';
import { BindingDriver } from './connection.ts';
import { makePartitions, monthlyTables } from './partitions.ts';
import { queriesOf } from './queries.ts';

/** Tables that are partitioned by time or not logged. Only migrations can create them, so they are not compared with entities. */
const tablesOfMigrations = [...monthlyTables.map((table) => new RegExp(`^${table}`)), /^rate_counts/];

/** Views that keep the previous release's queries working. */
const viewsForEarlierRelease = ['run_events'];

export type Orm = MikroORM;
/** The entity manager of one request or one transaction. It contains the transaction, if there is one. */
export type Em = EntityManager;

/** The entities that MikroORM maps to tables. */
type Entities = readonly EntitySchema[];

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** A connection counts as broken when a statement gets no answer for this long; 0: never. */
  readonly answerWithinMs?: number;
}

const connectWithinMs = 5_000;
const answerWithinMs = 60_000;

/**
 * MikroORM's entity manager, with a cheaper `fork()`. Each request forks several times. MikroORM copies filters, session variables and
 * options of logging, which the service does not use, and writes an environment variable of the process twice.
 */
class ForkingEntityManager extends EntityManager {
  override fork(...options: Parameters<EntityManager['fork']>): this {
    if (options.length > 0) return super.fork(...options) as this;
    const fork = new ForkingEntityManager(
      this.config,
      this.getDriver(),
      this.getMetadata(),
      false,
      this.getEventManager(),
    );
    return fork as this;
  }
}

/** Opens a pool of connections to PostgreSQL. It connects at the first query. `parseJson` reads columns of JSON. */
export function openOrm(settings: DatabaseSettings, entities: Entities, parseJson: (text: string) => unknown): Orm {
  return new MikroORM({
    driver: BindingDriver,
    entityManager: ForkingEntityManager,
    clientUrl: settings.databaseUrl,
    entities: [...entities],
    discovery: { warnWhenNoEntities: false },
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

/** The type numbers of `json` and `jsonb`. */
const jsonTypes = [114, 3802];

/** Sets the function that parses JSON columns. The driver's own function changes numbers that a JavaScript number cannot represent. */
function readJsonBy(parse: (text: string) => unknown, { options }: Pool): void {
  const { types: others } = options;
  if (!others) throw new Error('the pool has no parsers of its own');
  const getTypeParser: CustomTypesConfig['getTypeParser'] = (type, format) =>
    jsonTypes.includes(type) && format !== 'binary' ? parse : others.getTypeParser(type, format);
  options.types = { getTypeParser };
}

/**
 * Keeps broken connections from filling the pool. A connection that breaks inside a transaction might never be released, so after one
 * restart of the database, a pool could contain nothing else. A connection that breaks while it is in use is therefore released here. One
 * in use that receives nothing for `answerWithinMs` counts as broken.
 */
function guardPool(pool: Pool, answerWithinMs: number): void {
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => inUse.has(client) && releaseBroken(client));
    const { stream } = client.connection;
    if (stream instanceof Socket) stream.setTimeout(answerWithinMs, () => inUse.has(client) && stream.destroy());
  });
}

/**
 * Turns off PostgreSQL's compilation of statements. PostgreSQL compiles statements that it expects to be costly, which includes lists,
 * because it cannot estimate their conditions. Compiling one takes seconds, and executing it a millisecond. If this fails, it does no harm.
 */
function avoidCompiling(pool: Pool): void {
  pool.on('connect', (client) => void client.query('set jit = off').catch(() => undefined));
}

/** Makes the pool drop the connection. The code that uses it will release it once more, which must have no effect. */
function releaseBroken(client: PoolClient): void {
  client.release(true);
  client.release = () => undefined;
}
