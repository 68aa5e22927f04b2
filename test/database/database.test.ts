import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '#open-database';
import { createDatabase, createEmptyDatabase } from '#test/support/database/database.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const countTables = `select count(*)::int as tables from information_schema.tables where table_schema = 'public'`;

describe('a connection of the service', () => {
  it('turns off the JIT compilation of PostgreSQL', async () => {
    const database = await createDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await query(database.url, `alter database ${name} set jit = on`);
    const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 1 });
    try {
      expect(await query(database.url, 'show jit')).toEqual([{ jit: 'on' }]);
      expect(await orm.em.fork().execute('show jit')).toEqual([{ jit: 'off' }]);
    } finally {
      await orm.close();
      await database.drop();
    }
  });
});

describe('databases for tests', () => {
  it('are migrated, separate from each other, and no longer exist once dropped', async () => {
    const [first, second] = await Promise.all([createDatabase(), createDatabase()]);
    await query(first.url, 'create table only_here (id int)');
    const [inFirst] = await query(first.url, countTables);
    const [inSecond] = await query(second.url, countTables);
    expect(inSecond?.['tables']).toBeGreaterThan(5);
    expect(inFirst?.['tables']).toBe(Number(inSecond?.['tables']) + 1);
    await Promise.all([first.drop(), second.drop()]);
    await expect(query(first.url, 'select 1')).rejects.toThrow('does not exist');
  });

  it('can be created empty', async () => {
    const database = await createEmptyDatabase();
    expect(await query(database.url, countTables)).toEqual([{ tables: 0 }]);
    await database.drop();
  });
});
