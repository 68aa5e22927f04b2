import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { createTestConfig } from '../config.ts';
import { createDatabase } from './database.ts';

/** A migrated database without content of other files, and open connections to it. */
export interface LentDatabase {
  readonly url: string;
  readonly orm: Orm;
  /** Closes the connections and removes the database, or keeps both for the next file of this process. */
  giveBack(): Promise<void>;
}

interface KeptDatabase {
  readonly url: string;
  readonly orm: Orm;
  readonly drop: () => Promise<void>;
  /** The rows that migrations have written, by table. */
  readonly initialRows: readonly { readonly name: string; readonly rows: string }[];
  /** What its tables, functions and triggers were when it was new. */
  readonly structure: string;
}

let kept: KeptDatabase | undefined;

/**
 * Lends the database of this process. Files of tests use it one after another, because connections that have planned their statements save
 * a file more time than its own database costs. A file that opens a second one at the same time gets another. `settings` are those of the
 * file's API.
 */
export async function borrowDatabase(settings: Record<string, string>): Promise<LentDatabase> {
  const isUsual = settings['COORDINATOR_DATABASE_POOL'] === undefined;
  const database = (isUsual && kept) || (await makeDatabase(settings));
  if (database === kept) kept = undefined;
  const { url, orm } = database;
  return { url, orm, giveBack: () => (isUsual ? takeBack(database) : remove(database)) };
}

async function makeDatabase(settings: Record<string, string>): Promise<KeptDatabase> {
  const { url, drop } = await createDatabase();
  const orm = openDatabase(createTestConfig(url, settings));
  const [initialRows, structure] = [await readInitialRows(orm), await readStructure(orm)];
  return { url, orm, drop, initialRows, structure };
}

async function takeBack(database: KeptDatabase): Promise<void> {
  // A database that does not answer any more is not lent again either.
  if (!(await isReusable(database).catch(() => false))) return remove(database);
  await empty(database);
  if (kept !== undefined) return remove(database);
  kept = database;
}

async function remove({ orm, drop }: KeptDatabase): Promise<void> {
  await orm.close();
  await drop();
}

/** Whether the file has changed only rows, and nothing of it still uses the database. */
async function isReusable({ orm, structure }: KeptDatabase): Promise<boolean> {
  const others = await orm.em.fork().execute(
    `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and (state <> 'idle' or application_name <> 'delivery-coordinator')`,
  );
  return others.length === 0 && (await readStructure(orm)) === structure;
}

/** A digest of everything in the catalogs that a file could change, names included, but for what PostgreSQL itself counts there. */
async function readStructure(orm: Orm): Promise<string> {
  const [found] = await orm.em.fork().execute<{ structure: string }[]>(
    `with ours as (select oid from pg_namespace where nspname !~ '^(pg_|information_schema)'),
     relations as (select * from pg_class where relnamespace in (select oid from ours))
     select md5(string_agg(part::text, ' ' order by part::text)) as structure from (
       select to_jsonb(r) - '{relpages,reltuples,relallvisible,relallfrozen,relfilenode,relfrozenxid,relminmxid}'::text[]
         from relations r
       union all select to_jsonb(a) from pg_attribute a join relations r on r.oid = attrelid
       union all select to_jsonb(d) from pg_attrdef d
       union all select to_jsonb(c) from pg_constraint c where connamespace in (select oid from ours)
       union all select to_jsonb(t) from pg_trigger t
       union all select to_jsonb(p) from pg_proc p where pronamespace in (select oid from ours)
       union all select to_jsonb(p) from pg_policy p
       union all select to_jsonb(t) from pg_type t where typnamespace in (select oid from ours)
       union all select to_jsonb(w) from pg_rewrite w join relations r on r.oid = ev_class
       union all select to_jsonb(n) from pg_namespace n where oid in (select oid from ours)
       union all select to_jsonb(e) from pg_extension e
       union all select to_jsonb(e) from pg_event_trigger e
       union all select to_jsonb(s) from pg_db_role_setting s
         where setdatabase in (0, (select oid from pg_database where datname = current_database()))
       union all select to_jsonb(d) - '{datfrozenxid,datminmxid}'::text[]
         from pg_database d where datname = current_database()
     ) parts (part)`,
  );
  return found?.structure ?? '';
}

const tables = `select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

async function readInitialRows(orm: Orm): Promise<{ name: string; rows: string }[]> {
  const em = orm.em.fork();
  const found: { name: string; rows: string }[] = [];
  for (const { name } of await em.execute<{ name: string }[]>(tables)) {
    const [read] = await em.execute<{ rows: string | null }[]>(
      `select jsonb_agg(to_jsonb(t))::text as rows from "${name}" t`,
    );
    if (read?.rows) found.push({ name, rows: read.rows });
  }
  return found;
}

/** Deletes every row, in one transaction that checks no foreign keys, and writes those of the migrations anew. */
async function empty({ orm, initialRows }: KeptDatabase): Promise<void> {
  await orm.em.fork().transactional(async (tx) => {
    await tx.execute(`set local session_replication_role = replica`);
    await tx.execute(
      `do $$ declare name text; begin
         for name in ${tables} loop execute format('delete from %I', name); end loop;
       end $$`,
    );
    for (const { name, rows } of initialRows)
      await tx.execute(`insert into "${name}" select * from jsonb_populate_recordset(null::"${name}", ?::jsonb)`, [
        rows,
      ]);
  });
}
