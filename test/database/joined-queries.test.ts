import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJoined } from '#database/joined-queries.ts';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import { borrowDatabase, type LentDatabase } from '#test/support/database/kept-database.ts';

let database: LentDatabase;
beforeAll(async () => {
  database = await borrowDatabase({});
});
afterAll(() => database?.giveBack());

/** A row with a text, a time and a document, if `wanted` is true. */
const one = prepare((db, parameter: ParameterOf<{ wanted: boolean; text: string }>) =>
  db
    .selectFrom(sql<{ n: number }>`generate_series(1, 1)`.as<'s'>(sql`s(n)`))
    .where(sql<boolean>`${parameter('wanted')}::boolean`)
    .select([
      sql<string>`${parameter('text')}::text`.as('text'),
      sql<string>`timestamptz '2026-12-01 10:00:00.123456+00'`.as('createdAt'),
      sql<object>`jsonb_build_object('a', 1)`.as('id'),
    ]),
);
const empty = prepare((db, parameter: ParameterOf<{ n: number }>) =>
  db
    .selectFrom(sql<{ n: number }>`generate_series(1, ${parameter('n')}::int)`.as<'s'>(sql`s(n)`))
    .select([sql<string | null>`null::text`.as('id'), sql<string | null>`null::text`.as('text')]),
);
const failing = prepare((db, parameter: ParameterOf<{ n: number }>) =>
  db
    .selectFrom(sql<{ n: number }>`generate_series(1, 1)`.as<'s'>(sql`s(n)`))
    .select(sql<number>`1 / ${parameter('n')}::int`.as('id')),
);

describe('two queries in one statement', () => {
  const em = () => database.orm.em.fork();

  it('return the rows that each returns by itself, though they have columns of the same name', async () => {
    const [first, second] = [
      { wanted: true, text: 'first' },
      { wanted: true, text: 'second' },
    ];
    const [[own], [other]] = await Promise.all([one(em(), first), one(em(), second)]);
    expect(await runJoined(em(), [one, first], [one, second])).toEqual({ first: own, second: other });
    expect(own).toMatchObject({ text: 'first', id: { a: 1 } });
  });

  it('return no second row where the second finds none, and one where all of its columns are null', async () => {
    const first = { wanted: true, text: 'first' };
    expect((await runJoined(em(), [one, first], [empty, { n: 0 }]))?.second).toBeUndefined();
    expect((await runJoined(em(), [one, first], [empty, { n: 1 }]))?.second).toEqual({ id: null, text: null });
  });

  it('do not run the second where the first finds no row', async () => {
    const missing = { wanted: false, text: '' };
    expect(await runJoined(em(), [one, missing], [failing, { n: 0 }])).toBeUndefined();
    await expect(runJoined(em(), [one, { wanted: true, text: '' }], [failing, { n: 0 }])).rejects.toThrow('division');
  });
});
