import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Orm, pendingMigrations } from '#database/database.ts';
import { migrate } from '#migrate';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

describe('the migrations', () => {
  it('are applied once when several processes start at the same time', async () => {
    expect(await pendingMigrations(orm)).not.toEqual([]);
    const applied = await Promise.all([1, 2, 3].map(() => migrate({ databaseUrl: database.url })));
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(await pendingMigrations(orm)).toEqual([]);
  });

  it('create exactly the schema that the entities describe', async () => {
    const difference = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    const beyondEntities = /^drop function if exists "(make_month_partitions|month_of_id|first_id_at)".*$/gm;
    expect(difference.replace(beyondEntities, '').trim()).toBe('');
  });

  it('are found to differ if a table lacks a column of its entity', async () => {
    await orm.em.execute('alter table templates drop column description');
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toContain('"description"');
    await orm.em.execute(`alter table templates add column description text not null default ''`);
  });

  it('are refused on a database of a later release', async () => {
    await orm.em.execute(`insert into migrations (name, executed_at) values ('99990101_later', now())`);
    await expect(migrate({ databaseUrl: database.url })).rejects.toThrow(/later release.*99990101_later/);
  });
});
