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
  await orm.migrator.up({ to: '20261215_02_tries_by_hand' });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

it('the migration of plugin shares counts earlier background principals for the team or organization of their place', async () => {
  const [organization, team, project, installation] = [newId(), newId(), newId(), newId()];
  await execute(`insert into organizations (id, name, slug, created_at) values (?, 'o', 'o', now())`, organization);
  await execute(
    `insert into plugin_installations (id, organization_id, name, revision, created_by, created_at) values (?, ?, 'dns', 1, ?, now())`,
    ...[installation, organization, newId()],
  );
  const ofTeam = await addBackground(installation, `${organization} 1 ${team} 3 ${project} 1`);
  const ofOrganization = await addBackground(installation, `${organization} 2`);
  await orm.migrator.up();
  const rows = await execute('select id, owner_id, counted from plugin_background_principals order by id');
  expect(rows).toEqual([
    { id: ofTeam, owner_id: team, counted: true },
    { id: ofOrganization, owner_id: organization, counted: true },
  ]);
});

async function addBackground(installation: string, chain: string): Promise<string> {
  const id = newId();
  await execute(
    `insert into principals (id, kind, name, enabled, created_at) values (?, 'background', 'Nightly', true, now())`,
    id,
  );
  await execute(
    `insert into plugin_background_principals (id, installation_id, selector_type, selector_id, scope_basis, approved_by, revision, created_at)
     values (?, ?, 'team', ?, ?, ?, 1, now())`,
    ...[id, installation, newId(), chain, newId()],
  );
  return id;
}
