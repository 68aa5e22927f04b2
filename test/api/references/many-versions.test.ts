import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

let stage: ReadingStage;
beforeAll(async () => {
  stage = await openReadingStage();
});
afterAll(() => stage?.api.close());

/** The columns of a table that an insert may set, except some. */
async function columnsOf(table: string, ...except: string[]): Promise<string> {
  const rows = await stage.api.rows<{ name: string }>(
    `select quote_ident(column_name) as name from information_schema.columns where table_name = ? and is_generated = 'NEVER'`,
    [table],
  );
  return rows.flatMap(({ name }) => (except.includes(name) ? [] : name)).join(', ');
}

/** Publishes many versions with large specs, each with the same secret output. */
async function publishMany(count: number): Promise<void> {
  const { api, template } = stage;
  const columns = await columnsOf('template_versions', 'id', 'version', 'spec');
  const spec = `spec || jsonb_build_object('outputs', '{"token": {"sensitive": true}}'::jsonb, 'variables', (
    select jsonb_object_agg('variable_' || i, md5(i || '-' || n) || md5(n || '-' || i)) from generate_series(1, 80) i))`;
  await api.rows(
    `insert into template_versions (id, version, spec, ${columns})
       select ('ffffffff-ffff-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '10.0.' || n, ${spec}, ${columns}
       from template_versions, generate_series(1, ?) n where template_id = ?`,
    [count, template],
  );
  await api.rows(
    `insert into template_secret_outputs (template_id, name, version_id)
       select template_id, 'token', id from template_versions where template_id = ? and version like '10.0.%'`,
    [template],
  );
}

test('a list of 100 runs is as fast after 1000 newer versions were published, and masks what these declare secret', async () => {
  const { api, tenant } = stage;
  await stage.deploy({ instance: 'first' }, { token: plain('open-at-first'), size: plain(1) });
  const columns = await columnsOf('runs', 'id', 'idempotency_key');
  await api.rows(
    `insert into runs (id, idempotency_key, ${columns}) select gen_random_uuid(), gen_random_uuid(), ${columns}
       from (select * from runs where outputs <> '{}' limit 1) run, generate_series(1, 100)`,
  );
  const list = async () => {
    const began = performance.now();
    const answer = await tenant.owner.get('/runs?limit=100&scope=readable');
    return { ...answer, took: performance.now() - began };
  };
  const before = await list();
  expect(before.text).toContain('open-at-first');
  await publishMany(1000);
  const { body, text, took } = await list();
  expect(took).toBeLessThan(3 * before.took + 1000);
  expect(body.runs).toHaveLength(100);
  expect(text).not.toContain('open-at-first');
  expect(body.runs[0].outputs).toEqual({ token: { value: null, sensitive: true }, size: plain(1) });
});
