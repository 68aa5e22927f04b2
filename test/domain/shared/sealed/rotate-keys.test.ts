import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { toSnakeCase } from '#database/compiler.ts';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { sealedColumns } from '#domain/sealed-columns.ts';
import { countOld, type RotatedColumn, rotateColumn } from '#domain/shared/sealed/rotate-keys.ts';
import type { SealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { addTenant } from '#test/support/api/tenant.ts';
import type { Ids } from '#test/support/api/tenant-ids.ts';
import { createTestConfig } from '#test/support/config.ts';

const old = { id: 'old', key: Buffer.alloc(32, 7) };
const renewed = { id: 'renewed', key: Buffer.alloc(32, 8) };
const textOf = (...keys: (typeof old)[]) => keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join();
const keyRing = new KeyRing([renewed, old]);

let api: TestApi;
let root: Person;
let ids: Ids;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_SECRET_KEYS: textOf(old) });
  root = await addPerson(api, 'admin');
  ids = await addTenant(api, root);
  const variable = { value: 'kept', plan_value: 'planned', category: 'env', sensitive: true };
  const path = `/environments/${ids.environment}/variables`;
  for (const name of ['ONE', 'TWO', 'THREE'])
    expect((await root.caller.send('PUT', `${path}/${name}`, variable)).status).toBe(200);
  const shared = { variables: [{ name: 'SHARED', ...variable }] };
  const filled = await root.caller.send('PUT', `/variable-sets/${ids.variableSet}/variables`, shared);
  expect(filled.status, filled.text).toBe(200);
  const rotated = await root.caller.post(`/admin/webhooks/${ids.webhook}/rotate`, {});
  expect(rotated.status, rotated.text).toBe(200);
  const channel = await root.caller.post(`/admin/notification-channels/${ids.channel}/rotate`, {});
  expect(channel.status, channel.text).toBe(200);
  const chat = { preferences: [], chat_url: 'http://127.0.0.9:9/chat' };
  const chosen = await root.caller.send('PUT', '/notifications/preferences', chat);
  expect(chosen.status, chosen.text).toBe(200);
  const key = await root.caller.post('/admin/signing-keys/rotate', {});
  expect(key.status, key.text).toBe(200);
  await addResults();
});
afterAll(() => api?.close());

const rows = (sql: string, values: unknown[] = []) =>
  api.orm.em.fork().execute<Record<string, unknown>[]>(sql, values as string[]);

/** Adds what is sealed for a worker, or by one: a plan, a state, outputs, and the token of a mail. */
async function addResults() {
  const ring = new KeyRing([old]);
  const seal = (table: string, column: string, row: object) =>
    ring.sealJson(declarationOf(table, column).context({ ...row }), 'kept');
  await rows(
    `insert into run_plans (run_id, digest, executor_digest, changes, artifact, state_serial, created_at)
      values (?, 'd', 'e', '[]', ?, 0, now())`,
    [ids.run, seal('run_plans', 'artifact', { runId: ids.run })],
  );
  await rows(
    `insert into run_debug_logs (attempt_id, run_id, phase, level, bytes, content, created_at)
      values (?, ?, 'planning', 'debug', 4, ?, now())`,
    [ids.run, ids.run, seal('run_debug_logs', 'content', { attemptId: ids.run })],
  );
  await rows('update instances set sealed_outputs = ? where id = ?', [
    seal('instances', 'sealedOutputs', { id: ids.instance }),
    ids.instance,
  ]);
  await rows(
    `insert into state_versions (instance_id, serial, digest, size, resource_count, content, created_at)
      values (?, 1, 'sha256:d', 4, 0, ?, now())`,
    [ids.instance, seal('state_versions', 'content', { instanceId: ids.instance, digest: 'sha256:d' })],
  );
  await queueMessages(api.orm.em.fork(), [
    {
      medium: 'email',
      address: 'guest@example.com',
      content: { purpose: 'invitation', invitationId: ids.instance, sentAt: new Date().toISOString() },
      cause: 'test',
      token: { value: 'kept', keyRing: ring },
    },
  ]);
}

function declarationOf(table: string, column: string): SealedColumn {
  const found = sealedColumns.find((each) => each.table === table && each.column === column);
  if (!found) throw new Error(`${table}.${column} is not declared`);
  return found;
}

function toProperties(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  );
}

/** Opens every value of a column by a key ring, and answers how many there are. */
async function openAll({ table, column, context }: SealedColumn, ring: KeyRing): Promise<number> {
  const name = toSnakeCase(column);
  const found = await rows(`select * from ${table} where ${name} is not null`);
  for (const row of found) ring.open(context(toProperties(row)), row[name] as Buffer);
  return found.length;
}

describe('the list of sealed columns', () => {
  /** Columns of bytes that no key ring has sealed. Add one only if it holds no secret that the service must read again. */
  const unsealed = [
    'api_keys.verifier',
    'audit_seals.content',
    'audit_seals.seal',
    'command_receipts.binding',
    'command_receipts.resolved_binding',
    'connections.sealed_credentials', // Sealed by the key in sealed_key.
    'email_confirmations.verifier',
    'invitations.verifier',
    'password_resets.verifier',
    'plugin_releases.manifest',
    'run_log_chunks.content',
    'template_checks.modules_content',
    'template_checks.other_modules_content',
    'template_version_modules.content', // Code, kept as the files of versions are.
  ];

  it('has every bytea column of the database that may contain encrypted values', async () => {
    const columns = await rows(
      `select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and a.atttypid = 'bytea'::regtype and not a.attisdropped order by 1`,
    );
    const declared = sealedColumns.map(({ table, column }) => `${table}.${toSnakeCase(column)}`);
    expect([...declared, ...unsealed].sort()).toEqual(columns.map(({ name }) => name).sort());
  });
});

describe('rotating the keys', () => {
  it('skips a locked row until it is free, and continues after a row that no key decrypts', async () => {
    const values = declarationOf('environment_variables', 'sealedPlanValue');
    await rows(`update environment_variables set sealed_plan_value = '\\x0103' where name = 'TWO'`);
    const rotation = { orm: api.orm, keyRing };
    const holder = api.orm.em.fork();
    await holder.begin();
    await holder.execute(`select 1 from environment_variables where name = 'ONE' for update`);
    const rotating = rotateColumn(rotation, values);
    while ((await countOld(rotation, values)) > 2) await rows('select pg_sleep(0.05)');
    await holder.commit();
    expect(await rotating).toMatchObject({ sealed: 2, unreadable: 1, left: 1 });
    await rows(`update environment_variables set sealed_plan_value = null where name = 'TWO'`);
  });

  it('encrypts everything anew while the service works, which then needs no old key', async () => {
    const config = createTestConfig(api.database.url, { COORDINATOR_SECRET_KEYS: textOf(renewed, old) });
    const serving = await runApi(config);
    const caller = new Caller(serving.url, { 'x-api-key': root.key });
    let isOver = false;
    const work = async () => {
      const statuses = new Set<number>();
      for (let each = 0; !isOver; each++) {
        const credentials = { variables: { TOKEN: `kept ${each}` } };
        statuses.add((await caller.post(`/admin/connections/${ids.connection}/rotate`, { credentials })).status);
      }
      return [...statuses];
    };
    const working = work();
    const done: RotatedColumn[] = [];
    for (const each of sealedColumns) done.push(await rotateColumn({ orm: api.orm, keyRing }, each));
    isOver = true;
    expect(await working).toEqual([200]);
    await serving.close();
    expect(done.filter(({ left, unreadable }) => left > 0 || unreadable > 0)).toEqual([]);
    const ring = new KeyRing([renewed]);
    for (const each of sealedColumns)
      expect(await openAll(each, ring), `${each.table}.${each.column}`).toBeGreaterThan(0);
    for (const each of sealedColumns) expect(await countOld({ orm: api.orm, keyRing: ring }, each)).toBe(0);
    const alone = await runApi(createTestConfig(api.database.url, { COORDINATOR_SECRET_KEYS: textOf(renewed) }));
    const whoami = await new Caller(alone.url, { 'x-api-key': root.key }).get('/auth/whoami');
    await alone.close();
    expect(whoami.status).toBe(200);
  });
});
