import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { newId } from '#domain/shared/ids.ts';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);

beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  await orm.migrator.up({ to: '20261219_50_plan_secrets' });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

it('the migration makes attachments of variable sets void whose owners no longer own the place', async () => {
  const [organization, team, former, project, environment] = [newId(), newId(), newId(), newId(), newId()];
  await execute(`insert into organizations (id, name, slug, created_at) values (?, 'o', 'o', now())`, organization);
  for (const id of [team, former])
    await execute(
      `insert into teams (id, organization_id, name, slug, created_at) values (?, ?, ?, ?, now())`,
      ...[id, organization, id, id],
    );
  await execute(
    `insert into projects (id, team_id, name, slug, created_at) values (?, ?, 'p', 'p', now())`,
    project,
    team,
  );
  await execute(
    `insert into environments (id, project_id, name, slug, kind, approval_required, approval_when, approval_allow_self, created_at)
     values (?, ?, 'e', 'e', 'staging', 0, 'never', false, now())`,
    ...[environment, project],
  );
  const owned: [organization: string | null, team: string | null, project: string | null][] = [
    [organization, null, null],
    [null, team, null],
    [null, team, project],
  ];
  for (const owner of owned) await attach(owner, { project, environment });
  const lost = await attach([null, former, null], { project, environment });
  await orm.migrator.up();
  const found = await execute(
    'select distinct variable_set_id as id from variable_set_attachments where void_since is not null',
  );
  expect(found).toEqual([{ id: lost }]);
  expect(await execute('select 1 from variable_set_attachments where void_since is null')).toHaveLength(6);
});

/** Attaches a new set to a project and an environment; returns its id. */
async function attach(
  owner: readonly (string | null)[],
  { project, environment }: { readonly project: string; readonly environment: string },
): Promise<string> {
  const id = newId();
  await execute(
    `insert into variable_sets (id, organization_id, team_id, project_id, name, created_at) values (?, ?, ?, ?, ?, now())`,
    ...[id, ...owner, id],
  );
  for (const place of [
    [project, null],
    [null, environment],
  ])
    await execute(
      `insert into variable_set_attachments (id, variable_set_id, project_id, environment_id) values (?, ?, ?, ?)`,
      ...[newId(), id, ...place],
    );
  return id;
}
