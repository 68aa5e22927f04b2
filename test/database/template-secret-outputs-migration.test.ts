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
  await orm.migrator.up({ to: '20261221_02_audit_reads' });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

it('the migration stores the secret outputs of earlier versions, even of yanked ones', async () => {
  const [template, first, yanked] = [newId(), newId(), newId()];
  await execute(
    `insert into templates (id, name, slug, tags, created_at) values (?, 'n', 'n', '[]', now())`,
    ...[template],
  );
  const publish = (id: string, spec: object, at: string | null) =>
    execute(
      `insert into template_versions (id, template_id, version, spec, digest, files, published_by, created_at, yanked_at)
         values (?, ?, ?, ?, 'd', '{}', ?, now(), ?)`,
      ...[id, template, id, JSON.stringify(spec), template, at],
    );
  const token = { sensitive: true };
  await publish(newId(), {}, null);
  await publish(first, { outputs: { token, size: { sensitive: false }, zone: {} } }, null);
  await publish(yanked, { outputs: { token, key: token } }, '2026-01-01T00:00:00Z');
  await orm.migrator.up();
  const rows = await execute(
    'select name, version_id as version, is_yanked as yanked from template_secret_outputs where template_id = ? order by 2, 1',
    template,
  );
  expect(rows).toEqual([
    { name: 'token', version: first, yanked: false },
    { name: 'key', version: yanked, yanked: true },
    { name: 'token', version: yanked, yanked: true },
  ]);
});
