import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

const [before, after, stayed, moved] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
let database: TestDatabase;
let orm: Orm;
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);

interface OldRecord {
  readonly action: string;
  readonly at: string;
  readonly team?: string;
  readonly organization?: string;
  readonly resource?: string;
}

const record = ({ action, at, team, organization, resource }: OldRecord) =>
  execute(
    `insert into audit_records (id, at, actor_type, actor_name, action, resource_type, resource_id, team_id, organization_id, outcome)
     values (?, ?, 'user', 'Ana', ?, 'runs', ?, ?, ?, 'committed')`,
    randomUUID(),
    at,
    action,
    resource ?? null,
    team ?? null,
    organization ?? null,
  );

beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  await orm.migrator.up({ to: '20261125_1_deleted_runs' });
  for (const [id, slug] of [
    [before, 'before'],
    [after, 'after'],
  ])
    await execute(`insert into organizations (id, name, slug, created_at) values (?, ?, ?, now())`, id, slug, slug);
  for (const [id, organization] of [
    [stayed, before],
    [moved, after],
  ])
    await execute(
      `insert into teams (id, organization_id, name, slug, created_at) values (?, ?, 'Web', 'web', now())`,
      id,
      organization,
    );
  await record({ action: 'run.created', at: '2026-10-01T00:00:00Z', team: stayed });
  await record({ action: 'run.created', at: '2026-10-02T00:00:00Z', team: moved });
  const transfer = { action: 'team.transferred', at: '2026-10-03T00:00:00Z' };
  await record({ ...transfer, team: moved, organization: after, resource: moved });
  await record({ action: 'run.created', at: '2026-10-04T00:00:00Z', team: moved });
  await record({ action: 'user.created', at: '2026-10-05T00:00:00Z' });
  await orm.migrator.up();
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

describe('the migration of audit records', () => {
  it('adds the organization of the team, except to records from before a transfer of the team', async () => {
    const rows = await execute<{ organization_id: string | null }>(
      'select organization_id from audit_records order by at',
    );
    expect(rows.map((row) => row.organization_id)).toEqual([before, null, after, after, null]);
  });
});
