import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toSnakeCase } from '#database/compiler.ts';
import type { Orm } from '#database/database.ts';
import { declarations } from '#domain/ownership.ts';
import { refuseArchiving, refuseDeletion } from '#domain/shared/ownership-graph/blockers.ts';
import type { AnyDeclaration, AnyLink, Cascade } from '#domain/shared/ownership-graph/declaration.ts';
import {
  cascadeDeletion,
  endOnTransfer,
  lockSoleOwnerships,
  markDeleted,
} from '#domain/shared/ownership-graph/deletion.ts';
import { declarationOf } from '#domain/shared/ownership-graph/graph.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const all: readonly AnyDeclaration[] = declarations;
const linksOf = ({ owners = [], references = [] }: AnyDeclaration): readonly AnyLink[] => [...owners, ...references];

/** Columns that name an owner or a principal, besides those with a foreign key. */
const naming =
  /(^|_)(organization|team|project|environment|instance|template|template_version|run|attempt|principal|user|owner|actor|reviewer|worker)_ids?$|_by(_id)?$|^(set_by|undoes|requeued_from)$/;

/** Columns whose names only look like those of owners, as a run is watched by a workflow. */
const others = ['runs.parent_workflow_id'];

/** The columns, as `table.column`, that name an owner or a principal by their own name or by a foreign key. */
async function namingColumns(): Promise<string[]> {
  const rows = await orm.em.fork().execute<{ table: string; column: string; is_foreign: boolean }[]>(
    `select c.relname as table, a.attname as column, exists (
              select 1 from pg_constraint f where f.conrelid = c.oid and f.contype = 'f' and a.attnum = any(f.conkey)
            ) as is_foreign
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1, 2`,
  );
  const found = rows.filter(({ column, is_foreign: isForeign }) => isForeign || naming.test(column));
  return found.map(({ table, column }) => `${table}.${column}`).filter((column) => !others.includes(column));
}

/** The columns that a declaration names as a link, or that make it one of another kind. */
function declaredColumns(): string[] {
  return all.flatMap((declaration) => [
    ...(declaration.extends === undefined ? [] : [`${declaration.table}.id`]),
    ...linksOf(declaration).flatMap(({ columns }) =>
      columns.map((column) => `${declaration.table}.${toSnakeCase(column)}`),
    ),
  ]);
}

const undeclared = async () => {
  const declared = new Set(declaredColumns());
  return (await namingColumns()).filter((column) => !declared.has(column));
};

/** The tables of things that an owner can enable and disable, by the declarations of their owners. */
async function enabledTables(): Promise<string[]> {
  const rows = await orm.em
    .fork()
    .execute<{ table: string }[]>(
      `select table_name as table from information_schema.columns where table_schema = 'public' and column_name = 'is_enabled'`,
    );
  const owned = all.filter(({ owners = [] }) =>
    ['organization', 'project'].every((kind) => owners.some((owner) => owner.kind === kind)),
  );
  return rows.map(({ table }) => table).filter((table) => owned.some((declaration) => declaration.table === table));
}

describe('ownership declarations', () => {
  test('say by which action a transfer disables each thing that its owner can enable', async () => {
    const declared = all.flatMap(({ table, disabledByTransfer }) => (disabledByTransfer ? [table] : []));
    const help =
      'declare disabledByTransfer in the ownership.ts of its area: it sends to receivers that the former owner chose';
    expect((await enabledTables()).sort(), help).toEqual(declared.sort());
    expect(declared).toContain('webhooks');
  });

  test('name every column of the database that names an owner or a principal', async () => {
    const help =
      'declare in the ownership.ts of its area what the column names, and what happens to the row when that is deleted';
    expect(await undeclared(), help).toEqual([]);
    expect((await namingColumns()).length).toBeGreaterThan(40);
  });

  test('a missing one is found by the name of the column or by its foreign key', async () => {
    await orm.em.execute(
      'create table planted (id uuid, team_id uuid, holder uuid references principals (id), note text)',
    );
    try {
      expect(await undeclared()).toEqual(['planted.holder', 'planted.team_id']);
    } finally {
      await orm.em.execute('drop table planted');
    }
  });

  test('name only existing tables, columns and constraints', async () => {
    const rows = await orm.em
      .fork()
      .execute<{ name: string }[]>(
        `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'`,
      );
    const known = new Set(rows.map(({ name }) => name));
    const missing = all.flatMap((declaration) =>
      columnsOf(declaration).filter((column) => !known.has(`${declaration.table}.${toSnakeCase(column)}`)),
    );
    expect(missing).toEqual([]);
    const indexes = await orm.em.fork().execute<{ name: string }[]>(`select indexname as name from pg_indexes`);
    const constraints = all.flatMap(({ slug }) => (slug ? [slug.constraint] : []));
    expect(indexes.map(({ name }) => name)).toEqual(expect.arrayContaining(constraints));
  });

  test('name each kind and each table once, and refer only to declared kinds', () => {
    for (const names of [all.map(({ kind }) => kind), all.map(({ table }) => table)])
      expect(new Set(names).size).toBe(names.length);
    for (const each of all) {
      const named = linksOf(each).flatMap(({ kind, follows, blocker }) => [kind, follows, ...(blocker?.names ?? [])]);
      for (const kind of [...named, each.extends, each.slug?.history])
        if (kind) expect(declarationOf(kind).kind).toBe(kind);
    }
  });

  test.each(declarations.map(({ kind }) => kind))(
    'make statements that the database accepts, for the kind %s',
    async (kind) => {
      const em = orm.em.fork();
      await em.begin();
      const id = randomUUID();
      await lockSoleOwnerships(em, kind, id);
      await refuseArchiving(em, kind, id);
      for (const isNamed of [true, false]) await refuseDeletion(em, kind, id, { showsNames: () => isNamed });
      await cascadeDeletion(em, kind, id);
      await endOnTransfer(em, kind, id);
      if (declarationOf(kind).tombstone) await expect(markDeleted(em, kind, id)).rejects.toThrow(/does not exist/);
      await em.rollback();
    },
  );
});

function columnsOf(declaration: AnyDeclaration): string[] {
  const { key = ['id'], revision, generation, tombstone, archivable, disableable, slug } = declaration;
  const cascades = linksOf(declaration).flatMap(({ cascade, onTransfer }) => [cascade, onTransfer]);
  return [
    ...key,
    ...(revision ? ['revision'] : []),
    ...(generation ? ['eligibility_generation'] : []),
    ...(tombstone ? ['deleted_at'] : []),
    ...(archivable ? ['archived_at'] : []),
    ...(disableable ? ['enabled'] : []),
    ...(slug ? ['slug'] : []),
    ...linksOf(declaration).flatMap(({ columns }) => columns),
    ...cascades.flatMap(columnWritten),
  ];
}

/** The column that a cascade writes. */
function columnWritten(cascade: 'revised' | Cascade<string> | undefined): string[] {
  if (cascade === undefined || cascade === 'revised' || cascade.rows === 'deleted') return [];
  return [cascade.rows === 'ended' ? cascade.at : cascade.from];
}
