import { describe, expect, it } from 'vitest';
import { borrowDatabase, type LentDatabase } from '#test/support/database/kept-database.ts';

const run = ({ orm }: LentDatabase, statement: string) => orm.em.fork().execute(statement);

/** Returns whether the next borrower gets the same database after a file has run `statements` in it. */
async function isLentAgainAfter(...statements: string[]): Promise<boolean> {
  const lent = await borrowDatabase({});
  for (const statement of statements) await run(lent, statement);
  await lent.giveBack();
  const next = await borrowDatabase({});
  await next.giveBack();
  return next.url === lent.url;
}

describe('a database that test files use one after another', () => {
  it('comes without the rows of the file before, and with those of the migrations', async () => {
    const lent = await borrowDatabase({});
    const settings = await run(lent, 'select * from settings');
    await run(lent, `update settings set document = '{"changed": true}'`);
    await run(lent, `insert into rate_counts (key, count, ends_at) values ('left', 1, now())`);
    await lent.giveBack();
    const next = await borrowDatabase({});
    expect(next.url).toBe(lent.url);
    expect(await run(next, 'select * from rate_counts')).toEqual([]);
    expect(await run(next, 'select * from settings')).toEqual(settings);
    await next.giveBack();
  });

  it.each([
    ['renamed a table', 'alter table sessions rename to gone'],
    ['renamed a column', 'alter table sessions rename column user_id to owner_id'],
    ['renamed an index', 'create index a on sessions (user_id)', 'alter index a rename to b'],
    ['added a column', 'alter table sessions add column extra text'],
    ['changed a default', `alter table sessions alter column created_at set default now() - interval '1 day'`],
    ['allowed null', 'alter table sessions alter column user_id drop not null'],
    ['added a constraint', 'alter table sessions add constraint broken check (true) not valid'],
    ['switched a trigger off', 'alter table notification_channels disable trigger all'],
    ['created a function', `create function extra() returns int language sql as 'select 1'`],
    ['created a view', 'create view extra as select 1 as id'],
    ['created a schema', 'create schema extra'],
    ['granted a right', 'grant select on sessions to public'],
    [
      'changed a setting of the database',
      `do $$ begin
       execute format('alter database %I set statement_timeout = 900', current_database()); end $$`,
    ],
  ])('is not lent again if the file %s', async (_what, ...statements: string[]) => {
    expect(await isLentAgainAfter(...statements)).toBe(false);
  });
});
