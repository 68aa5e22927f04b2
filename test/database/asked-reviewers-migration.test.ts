import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

const [asked, unasked, newer, ended, ana] = [0, 1, 2, 3, 4].map(() => randomUUID()) as [string, ...string[]];
const other = { type: 'user', id: randomUUID(), name: 'Ben' };
let database: TestDatabase;
let orm: Orm;
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);

const addRun = (id: unknown, status: string, reviewers: object[] = []) =>
  execute('insert into runs (id, status, reviewers) values (?, ?, ?)', id, status, JSON.stringify(reviewers));

const ask = (run: unknown, sequence: number, reviewers: unknown[]) =>
  execute(
    `insert into domain_events (id, subject_kind, subject_id, sequence, type, data, actor_id, actor_type, actor_name, created_at)
     values (?, 'run', ?, ?, 'run.approval_requested', ?, ?, 'user', 'Cleo', now())`,
    randomUUID(),
    run,
    sequence,
    JSON.stringify({ by: 'Cleo', reviewers, message: '' }),
    randomUUID(),
  );

beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  await orm.migrator.up({ to: '20261127_9_run_comments' });
  await execute(`do $$ declare c record; begin
    for c in select column_name as name from information_schema.columns where table_name = 'runs' and column_name <> 'id'
    loop execute format('alter table runs alter column %I drop not null', c.name); end loop; end $$`);
  await execute(`insert into principals (id, kind, name, created_at) values (?, 'user', 'Ana', now())`, ana);
  await addRun(asked, 'pending_approval');
  await addRun(unasked, 'pending_approval');
  await addRun(newer, 'pending_approval', [other]);
  await addRun(ended, 'succeeded');
  await ask(asked, 1, [ana]);
  await ask(asked, 2, [ana, randomUUID()]);
  await ask(newer, 1, [ana]);
  await ask(ended, 1, [ana]);
  await orm.migrator.up();
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

describe('the migration of requested reviewers', () => {
  it.each([
    ['shows once whom people asked to review a run that waits', asked, [{ type: 'user', id: ana, name: 'Ana' }]],
    ['leaves a run for which nobody was asked', unasked, []],
    ['leaves a run that shows its reviewers already', newer, [other]],
    ['leaves a run that has ended', ended, []],
  ])('%s', async (_title, id, reviewers) => {
    expect(await execute('select reviewers from runs where id = ?', id)).toEqual([{ reviewers }]);
  });
});
