import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

const [run, team, organization, requester] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
let database: TestDatabase;
let orm: Orm;
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);

/** What the release before the migration sends to add an event to a run. */
const addAsEarlierRelease = (type: string) =>
  execute(
    `insert into run_events (run_id, sequence, type, data, created_at)
     select ?, coalesce(max(sequence), 0) + 1, ?, ?, clock_timestamp() from run_events where run_id = ?`,
    run,
    type,
    '{"by":"Ana"}',
    run,
  );

beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  await orm.migrator.up({ to: '20261123_3_receipt_answers' });
  await execute(`do $$ declare c record; begin
    for c in select column_name as name from information_schema.columns where table_name = 'runs' and column_name <> 'id'
    loop execute format('alter table runs alter column %I drop not null', c.name); end loop; end $$`);
  await execute(
    `insert into organizations (id, name, slug, created_at) values (?, 'North', 'north', now())`,
    organization,
  );
  await execute(
    `insert into teams (id, organization_id, name, slug, created_at) values (?, ?, 'Web', 'web', now())`,
    team,
    organization,
  );
  await execute(
    `insert into runs (id, team_id, requested_by_id, requested_by_type, requested_by_name) values (?, ?, ?, 'user', 'Ana')`,
    run,
    team,
    requester,
  );
  await addAsEarlierRelease('run.admitted');
  await addAsEarlierRelease('run.planning');
  await orm.migrator.up();
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

describe('the migration of events', () => {
  it('keeps the events of runs with their numbers, and adds the owners of the run', async () => {
    const events = await execute(
      `select subject_kind, subject_id, sequence, type, data, organization_id, team_id, actor_type, actor_id
         from domain_events order by position`,
    );
    const owners = { subject_kind: 'run', subject_id: run, organization_id: organization, team_id: team };
    expect(events).toMatchObject([
      { ...owners, sequence: 1, type: 'run.admitted', data: { by: 'Ana' }, actor_type: 'user', actor_id: requester },
      { ...owners, sequence: 2, type: 'run.planning', actor_type: 'system' },
    ]);
  });

  it('lets the previous release continue to write and read events of runs', async () => {
    await addAsEarlierRelease('run.finished');
    const events = await execute(`select run_id, sequence, type, data from run_events where run_id = ?`, run);
    expect(events).toHaveLength(3);
    expect(events[2]).toEqual({ run_id: run, sequence: 3, type: 'run.finished', data: { by: 'Ana' } });
    expect(await execute(`select 1 from domain_events where subject_id = ? and sequence = 3`, run)).toHaveLength(1);
  });
});
