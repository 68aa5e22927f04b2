import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { createTestConfig } from '#test/support/config.ts';
import { createDatabase } from '#test/support/database/database.ts';
import { makeDataDirectory } from '#test/support/directories.ts';
import { Program } from '#test/support/programs/start.ts';
import { findFreePort } from '#test/support/workload-identity/verifier.ts';

const dataDir = makeDataDirectory();
const ring = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
let database: Awaited<ReturnType<typeof createDatabase>>;
let ports: { api: number; admin: number };
let running: Program | undefined;

const bootstrap = { ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: 't' };

async function startWith(secretKeys: string): Promise<Program> {
  await running?.stop();
  running = Program.coordinator(['start'], {
    COORDINATOR_DATA_DIR: dataDir,
    COORDINATOR_PORT: String(ports.api),
    COORDINATOR_ADMIN_PORT: String(ports.admin),
    COORDINATOR_SECRET_KEYS: secretKeys,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    ...bootstrap,
  });
  await running.says(/Stop {3}Ctrl-C/);
  return running;
}

async function call(path: string, { key, body }: { key?: string; body?: unknown } = {}) {
  const answer = await fetch(`http://127.0.0.1:${ports.api}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-service-bootstrap-token': 't',
      ...(key?.startsWith('dc_') ? { 'x-api-key': key } : key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, code: answer.headers.get('x-error-code'), text, body: JSON.parse(text) };
}

const account = { email: 'first@example.com', password: 'a strong pass 1' };
const kept = { session: '', key: '', connection: '' };

beforeAll(async () => {
  database = await createDatabase();
  ports = { api: await findFreePort(), admin: await findFreePort() };
  const settings = { COORDINATOR_PORT: String(ports.api), COORDINATOR_SECRET_KEYS: ring('k1', 1), ...bootstrap };
  const api = await runApi(createTestConfig(database.url, settings));
  await call('/bootstrap/admin', { body: { ...account, name: 'First' } });
  kept.session = (await call('/api/v1/auth/sessions', { body: account })).body.token;
  kept.key = (await call('/api/v1/profile/api-keys', { key: kept.session, body: { name: 'reader' } })).body.key;
  const connection = { name: 'env', kind: 'generic', credentials: { variables: { A_TOKEN: 'secret' } } };
  const made = await call('/api/v1/admin/connections', { key: kept.key, body: connection });
  expect(made.status, made.text).toBe(201);
  kept.connection = made.body.id;
  await api.close();
});

afterAll(async () => {
  await running?.stop();
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe.each([
  ['lacks the key', ring('k2', 2), /no key in the ring opens this value \(key id "k1"\)/],
  ['has another key under the same id', ring('k1', 2), /the key "k1" of the ring is not the key that sealed/],
])('a service whose key ring %s', (_title, keys, reason) => {
  it('starts, and reports the wrong setting in output, log and readiness', async () => {
    const program = await startWith(keys);
    expect(program.output).toMatch(/The worker takes no work\. COORDINATOR_SECRET_KEYS/);
    expect(program.output).toMatch(reason);
    for (const name of ['api', 'worker']) {
      const log = readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8').replaceAll('\\"', '"');
      expect(log).toMatch(/COORDINATOR_SECRET_KEYS/);
      expect(log).toMatch(reason);
    }
    expect(await call('/readyz')).toMatchObject({
      status: 200,
      body: { status: 'degraded', checks: { database: 'ok', temporal: 'ok', key_ring: 'failed' } },
    });
    const details = await (await fetch(`http://127.0.0.1:${ports.admin}/readyz/internal`)).json();
    const error = expect.stringMatching(new RegExp(`COORDINATOR_SECRET_KEYS.*${reason.source}`));
    expect(details).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'key_ring', error })]),
    });
  });

  it('answers reads with an API key', async () => {
    const { key, connection } = kept;
    const list = await call('/api/v1/admin/connections', { key });
    expect([list.status, list.body.connections.map(({ id }: { id: string }) => id)]).toEqual([200, [connection]]);
    for (const path of [`/api/v1/admin/connections/${connection}`, '/api/v1/runs', '/api/v1/audit', '/api/v1/teams'])
      expect([path, (await call(path, { key })).status]).not.toEqual([path, 503]);
    expect((await call(`/api/v1/admin/connections/${connection}`, { key })).status).toBe(200);
  });

  it('answers 503 with its own code to sessions, sign-ins and changes', async () => {
    const refused = {
      status: 503,
      code: 'key_ring_unusable',
      text: expect.stringContaining('COORDINATOR_SECRET_KEYS'),
    };
    expect(await call('/api/v1/runs', { key: kept.session })).toMatchObject(refused);
    expect(await call('/api/v1/auth/sessions', { body: account })).toMatchObject(refused);
    const { key, connection } = kept;
    expect(await call(`/api/v1/admin/connections/${connection}/test`, { key, body: {} })).toMatchObject(refused);
    expect(await call('/api/v1/organizations', { key, body: { name: 'New', slug: 'new' } })).toMatchObject(refused);
  });
});

describe('a service that gets its key ring back', () => {
  it('works as before', async () => {
    const program = await startWith(`${ring('k2', 2)},${ring('k1', 1)}`);
    expect(program.output).not.toMatch(/takes no work/);
    expect(await call('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect((await call('/api/v1/runs', { key: kept.session })).status).toBe(200);
    const tested = await call(`/api/v1/admin/connections/${kept.connection}/test`, { key: kept.key, body: {} });
    expect(tested.status, tested.text).toBe(200);
  });
});
