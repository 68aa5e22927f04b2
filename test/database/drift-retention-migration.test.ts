import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { firstIdAt, newId } from '#domain/shared/ids.ts';
import { openDatabase } from '#open-database';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
const execute = <Row extends object>(sql: string, ...params: unknown[]) => orm.em.fork().execute<Row[]>(sql, params);
const idAt = (hour: number) => firstIdAt(new Date(Date.UTC(2026, 10, 1, hour))).slice(0, -12) + newId().slice(-12);

const fillers: Record<string, string> = {
  uuid: 'gen_random_uuid()',
  'timestamp with time zone': 'now()',
  integer: '1',
  boolean: 'false',
  jsonb: `'{}'`,
  bytea: `''`,
};

/** Inserts a row, with values for all columns that must not be null. */
async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const required = await execute<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
      where table_name = ? and is_nullable = 'NO' and column_default is null`,
    table,
  );
  const filled = required.filter(({ name }) => !(name in row));
  const names = [...Object.keys(row), ...filled.map(({ name }) => name)].map((name) => `"${name}"`);
  const values = [...Object.keys(row).map(() => '?'), ...filled.map(({ type }) => fillers[type] ?? `''`)];
  await execute(`insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`, ...Object.values(row));
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
  await orm.migrator.up({ to: '20261203_01_audit_seals' });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

it('the migration of drift retention marks the evidence that earlier suppressions and remediations name', async () => {
  const [monitor, suppressed, remediated, open] = [newId(), newId(), newId(), newId()];
  await insert('drift_monitors', { id: monitor });
  const evidence = [1, 2, 3, 4, 5, 6].map(idAt);
  const [a1, a2, b1, b2, b3, c1] = evidence;
  const finding = { monitor_id: monitor };
  const suppression = { suppressed_value: 'x', suppressed_until: '2027-01-01' };
  await insert('drift_findings', { ...finding, id: suppressed, identity: '1', evidence_id: a2, ...suppression });
  await insert('drift_findings', { ...finding, id: remediated, identity: '2', evidence_id: b3 });
  await insert('drift_findings', { ...finding, id: open, identity: '3', evidence_id: c1 });
  for (const [finding_id, ids] of [
    [suppressed, [a1, a2]],
    [remediated, [b1, b2, b3]],
    [open, [c1]],
  ] as const)
    for (const id of ids) await insert('drift_evidence', { id, finding_id });
  const afterSecond = firstIdAt(new Date(Date.UTC(2026, 10, 1, 4, 30)));
  await insert('runs', { id: afterSecond, drift_finding_id: remediated });
  await orm.migrator.up();
  const cited = await execute<{ id: string }>('select id from drift_evidence where cited order by id');
  expect(cited.map(({ id }) => id)).toEqual([a2, b2]);
});
