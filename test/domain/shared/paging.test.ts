import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import {
  afterId,
  type Page,
  type PageRequest,
  pageByName,
  pageOf,
  pageOfLarge,
  pageQuery,
  toPage,
} from '#domain/shared/paging/paging.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';

const rows = (count: number) => Array.from({ length: count }, () => ({ id: newId() })).reverse();
const Query = z.strictObject(pageQuery);

describe('a page', () => {
  it('has no next cursor if it has all rows', () => {
    for (const count of [0, 1, 5]) {
      const all = rows(count);
      expect(toPage(all, { limit: 5 })).toEqual({ items: all, nextCursor: null });
    }
  });

  it('has a cursor to its last row if there are more', () => {
    const found = rows(6);
    const page = toPage(found, { limit: 5 });
    expect(page.items).toEqual(found.slice(0, 5));
    expect(afterId({ limit: 5, cursor: page.nextCursor ?? '' })).toBe(found[4]?.id);
  });

  it('ends before its rows are larger than 1 MiB together, with a cursor to the others', () => {
    const value = { nested: ['x'.repeat(300 * 1024)] };
    const found = rows(6).map((row) => ({ ...row, value }));
    const page = toPage(found, { limit: 5 });
    expect(page.items).toEqual(found.slice(0, 3));
    const next = toPage(found.slice(3), { limit: 5, cursor: page.nextCursor ?? '' });
    expect(next).toEqual({ items: found.slice(3), nextCursor: null });
  });

  it('has a single row if that row alone is larger than 1 MiB', () => {
    const found = rows(3).map((row) => ({ ...row, value: 'x'.repeat(2 * 1024 * 1024) }));
    const page = toPage(found, { limit: 5 });
    expect(page.items).toEqual(found.slice(0, 1));
    expect(afterId({ limit: 5, cursor: page.nextCursor ?? '' })).toBe(found[0]?.id);
    expect(toPage(found.slice(2), { limit: 5 })).toEqual({ items: found.slice(2), nextCursor: null });
  });

  it('starts at its cursor, and refuses a text that is not a cursor', () => {
    expect(afterId({ limit: 5 })).toBeNull();
    const { nextCursor } = toPage(rows(2), { limit: 1 });
    const cursor = nextCursor ?? '';
    const zero = Buffer.from('00000000-0000-0000-0000-000000000000').toString('base64url');
    const upper = Buffer.from(newId().toUpperCase()).toString('base64url');
    const injected = Buffer.from(`${newId()}' or true`).toString('base64url');
    for (const bad of [
      '',
      'x',
      newId(),
      zero,
      upper,
      injected,
      `${cursor}!`,
      `${cursor}=`,
      ` ${cursor}`,
      cursor.slice(1),
    ])
      expect(() => afterId({ limit: 5, cursor: bad }), JSON.stringify(bad)).toThrow(Invalid);
  });
});

describe('a page of a query', () => {
  let database: TestDatabase;
  let orm: Orm;
  beforeAll(async () => {
    database = await createDatabase();
    orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
    for (const name of ['b', 'a-1', 'B', 'a', 'ä']) {
      const organization = {
        id: newId(),
        name,
        slug: `slug-${name.codePointAt(0)}-${name.length}`,
        createdAt: new Date(),
      };
      await db(orm.em.fork()).insertInto('organizations').values(organization).execute();
    }
  });
  afterAll(async () => {
    await orm?.close();
    await database?.drop();
  });

  const organizations = () => db(orm.em.fork()).selectFrom('organizations as o').select(['o.id', 'o.name']);
  type Row = { id: string; name: string };
  async function readAll(readPage: (request: PageRequest) => Promise<Page<Row>>) {
    const names: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await readPage({ limit: 2, cursor });
      names.push(page.items.map(({ name }) => name));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return names;
  }

  it('continues after the last row of the previous page, newest first', async () => {
    const pages = await readAll((request) => pageOf(organizations(), 'o.id', request));
    expect(pages).toEqual([['ä', 'a'], ['B', 'a-1'], ['b']]);
  });

  it('has only rows that match the query', async () => {
    const few = () => organizations().where((eb) => eb.or([eb('o.name', '=', 'b'), eb('o.name', '=', 'B')]));
    expect(await readAll((request) => pageOf(few(), 'o.id', request))).toEqual([['B', 'b']]);
  });

  it('a page of a query of large rows continues after the last row of the previous page', async () => {
    const pages = await readAll((request) => pageOfLarge(orm.em.fork(), organizations(), 'o.id', request));
    expect(pages).toEqual([['ä', 'a'], ['B', 'a-1'], ['b']]);
  });

  it('a page of a query of large rows ends before they are larger than 1 MiB together', async () => {
    const large = sql<string>`repeat('x', case when o.name = 'B' then 2000000 else 500000 end)`.as('value');
    const sizes = async (cursor?: string) =>
      pageOfLarge(orm.em.fork(), organizations().select(large), 'o.id', { limit: 10, cursor });
    const names: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await sizes(cursor);
      names.push(page.items.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(names).toEqual([['ä', 'a'], ['B'], ['a-1', 'b']]);
  });

  it('a page of a query by name continues in the order of the bytes of the names', async () => {
    const pages = await readAll((request) => pageByName(organizations(), 'o.name', request, () => true));
    expect(pages).toEqual([['B', 'a'], ['a-1', 'b'], ['ä']]);
  });

  it('a page of a query by name refuses a cursor of another list', async () => {
    const cursor = Buffer.from('b').toString('base64url');
    await expect(pageOf(organizations(), 'o.id', { limit: 2, cursor })).rejects.toThrow(Invalid);
    await expect(pageByName(organizations(), 'o.name', { limit: 2, cursor }, () => false)).rejects.toThrow(Invalid);
  });
});

describe('the query of a list', () => {
  it('has a limit of 50 by default, and from 1 to 200', () => {
    expect(Query.parse({})).toEqual({ limit: 50 });
    for (const limit of ['1', '200']) expect(Query.parse({ limit }).limit).toBe(Number(limit));
  });

  it.each(['0', '201', '-1', '1.5', '', ' ', 'ten', 'NaN', 'Infinity', '1e99'])('refuses the limit %j', (limit) => {
    expect(Query.safeParse({ limit }).success).toBe(false);
  });

  it('refuses a limit or a cursor that the query has twice', () => {
    expect(Query.safeParse({ limit: ['1', '2'] }).success).toBe(false);
    expect(Query.safeParse({ cursor: ['a', 'b'] }).success).toBe(false);
  });
});
