import { expect } from 'vitest';
import type { Orm } from '#database/database.ts';

/**
 * Columns that say in which status a thing is: by a word, by a switch, or by whether there is a time. Each table that has one is watched, also
 * one that is added later.
 */
const statusColumns = `(column_name in ('status', 'state', 'enabled', 'is_enabled')
  or column_name ~ '^(archived|deleted|revoked|accepted|yanked|lost|drain_requested)_at$')`;

/** Changes that nobody hears of, by their column, with the reason. */
const silent: Readonly<Record<string, string>> = {
  'command_receipts.status': 'a receipt is written in two steps of one transaction',
  'webhook_deliveries.status': 'an event about a delivery would be delivered, too; the log of deliveries shows them',
  'outgoing_messages.status':
    'an event about a message could cause a message; channels and preferences show what failed',
};

/** Has the database note how the status of any row of any table changes: from now on, or only during `whileWatched`. */
export async function watchStatusChanges(orm: Orm, when: 'from now on' | 'while watched'): Promise<void> {
  const em = orm.em.fork();
  await em.execute(`create table watching (since timestamptz)`);
  await em.execute(
    `create table seen_changes (transaction_id xid8, table_name text, column_name text, row jsonb, old text, new text)`,
  );
  await em.execute(noteChange);
  await em.execute(watchedTables);
  await em.execute(noteEverywhere);
  if (when === 'from now on') await em.execute('insert into watching values (now())');
}

/** Notes the changes of this work alone: what a test prepares by SQL is not the service's. */
export async function whileWatched<T>(orm: Orm, work: () => Promise<T>): Promise<T> {
  await orm.em.fork().execute('insert into watching values (now())');
  try {
    return await work();
  } finally {
    await orm.em.fork().execute('delete from watching');
  }
}

/** Changes something by SQL that is not noted, in a database that is watched from now on. */
export async function unwatched<T>(orm: Orm, work: () => Promise<T>): Promise<T> {
  await orm.em.fork().execute('delete from watching');
  try {
    return await work();
  } finally {
    await orm.em.fork().execute('insert into watching values (now())');
  }
}

/** Expects of every change of a status that an event of the same transaction names the row, or what the row is a part of. */
export async function expectHeardChanges(orm: Orm): Promise<void> {
  const changes = await readStatusChanges(orm);
  const unheard = changes.filter(({ column, isHeard }) => !isHeard && silent[column] === undefined);
  expect(
    unheard.map(({ column, change }) => `${column}: ${change}`),
    'changes without an event: publish one in the transaction that makes the change',
  ).toEqual([]);
}

interface StatusChange {
  /** `table.column`. */
  readonly column: string;
  /** The values, or whether there was a time: `null → set`. */
  readonly change: string;
  readonly isHeard: boolean;
}

/** The columns that are watched, as `table.column`. */
export async function watchedColumns(orm: Orm): Promise<string[]> {
  const rows = await orm.em
    .fork()
    .execute<{ name: string }[]>(`select table_name || '.' || column_name as name from watched_columns order by 1`);
  return rows.map(({ name }) => name).filter((name) => silent[name] === undefined);
}

/** The changes that were noted, each once. */
export function readStatusChanges(orm: Orm): Promise<StatusChange[]> {
  return orm.em.fork().execute<StatusChange[]>(
    `select distinct s.table_name || '.' || s.column_name as "column",
            case when s.column_name like '%\\_at'
                 then case when s.old is null then 'null' else 'set' end || ' → ' || case when s.new is null then 'null' else 'set' end
                 else coalesce(s.old, 'null') || ' → ' || coalesce(s.new, 'null') end as change,
            exists (select from domain_events e
                     where e.transaction_id = s.transaction_id
                       -- An event of an assembly run says nothing of a node that it does not name.
                       and (s.table_name <> 'assembly_nodes' or e.type = 'assembly_run.resumed' or e.data ->> 'node' = s.row ->> 'key')
                       and (e.subject_id::text in (select v from jsonb_each_text(s.row) as f(k, v) where k = 'id' or k like '%\\_id')
                            or position(coalesce(s.row ->> 'id', '-') in e.data::text) > 0
                            -- The event of a rotated key names the new one; its audit record says which key it replaced.
                            or exists (select from audit_records a where a.id::text = e.data ->> 'audit_record_id' and a.after ->> 'replaces' = s.row ->> 'id'))) as "isHeard"
       from seen_changes s order by 1, 2`,
  );
}

const noteChange = `create function note_change() returns trigger language plpgsql as $$
declare
  name text;
  was text;
  becomes text;
begin
  if not exists (select from watching) then return null; end if;
  foreach name in array tg_argv loop
    was := to_jsonb(old) ->> name;
    becomes := to_jsonb(new) ->> name;
    if was is distinct from becomes then
      insert into seen_changes values (pg_current_xact_id(), tg_table_name, name, to_jsonb(new), was, becomes);
    end if;
  end loop;
  return null;
end $$`;

const watchedTables = `create table watched_columns as
  select table_name::text, column_name::text
    from information_schema.columns
    join pg_class r on r.relname = table_name and r.relnamespace = 'public'::regnamespace
   where table_schema = 'public' and r.relkind in ('r', 'p') and not r.relispartition and ${statusColumns}`;

const noteEverywhere = `do $$
declare
  watched record;
begin
  for watched in select table_name, string_agg(quote_literal(column_name), ', ') as columns from watched_columns group by table_name
  loop
    execute format('create trigger note_change after update on %I for each row execute function note_change(%s)',
                   watched.table_name, watched.columns);
  end loop;
end $$`;
