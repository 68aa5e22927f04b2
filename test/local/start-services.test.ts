import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { makeDataDirectory } from '#test/support/directories.ts';
import { Program, processTree } from '#test/support/programs/start.ts';

/** `start` with a PostgreSQL and a Temporal that others run. Each start takes many seconds, so the tests share few of them. */
const databases: TestDatabase[] = [];
const directories: string[] = [];
const started: Program[] = [];

async function makePlace(): Promise<Record<string, string>> {
  const database = await createEmptyDatabase();
  databases.push(database);
  const directory = makeDataDirectory();
  directories.push(directory);
  return {
    COORDINATOR_DATA_DIR: directory,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
  };
}

async function start(settings: Record<string, string>): Promise<Program> {
  for (const program of started) if (!program.hasEnded) await program.stop();
  const program = Program.coordinator(['start'], settings);
  started.push(program);
  await program.says(/Stop {3}Ctrl-C/);
  return program;
}

afterAll(async () => {
  for (const program of started) if (!program.hasEnded) await program.stop();
  for (const database of databases) await database.drop();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

describe('start with external PostgreSQL and Temporal', () => {
  const ring = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
  const account = { email: 'first@example.com', password: 'a strong pass 1' };
  const kept = { session: '', key: '', connection: '' };
  let place: Record<string, string>;
  let program: Program;
  let url = '';

  async function startWith(secretKeys: string): Promise<void> {
    const bootstrap = { ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: 'the token' };
    program = await start({ ...place, ...bootstrap, COORDINATOR_PORT: '0', COORDINATOR_SECRET_KEYS: secretKeys });
    [, url = ''] = await program.says(/Ready {2}(http:\/\/127\.0\.0\.1:\d+)/);
  }

  async function call(path: string, { key, body }: { key?: string; body?: unknown } = {}) {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-service-bootstrap-token': 'the token',
        ...(key?.startsWith('dc_') ? { 'x-api-key': key } : key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, code: answer.headers.get('x-error-code'), text, body: JSON.parse(text) };
  }

  beforeAll(async () => {
    place = await makePlace();
    await startWith(ring('k1', 1));
  });

  it('embeds no server, migrates the database, and leaves the first user to bootstrap', async () => {
    expect(program.output).not.toMatch(/Administrator {2}|Greeting/);
    expect(processTree(program.pid).filter(({ command }) => /postgres -D|start-dev/.test(command))).toEqual([]);
    expect((await call('/bootstrap/admin', { body: { ...account, name: 'First' } })).status).toBe(201);
  });

  it('issues tokens with its loopback address as issuer, and publishes the first key', async () => {
    const read = async (path: string) => (await call(`/.well-known/${path}`)).body;
    const configuration = { issuer: url, jwks_uri: `${url}/.well-known/jwks.json` };
    expect(await read('openid-configuration')).toMatchObject(configuration);
    await expect.poll(() => read('jwks.json')).toMatchObject({ keys: [{ kty: 'RSA' }] });
  });

  describe.each([
    ['lacks the key', ring('k2', 2), /no key in the ring opens this value \(key id "k1"\)/],
    ['has another key under the same id', ring('k1', 2), /the key "k1" of the ring is not the key that sealed/],
  ])('whose key ring %s', (_title, keys, reason) => {
    beforeAll(async () => {
      if (kept.key === '') await keepValues();
      await startWith(keys);
    });

    it('starts, and reports the wrong setting in output, log and readiness', async () => {
      expect(program.output).toMatch(/The worker takes no work\. COORDINATOR_SECRET_KEYS/);
      expect(program.output).toMatch(reason);
      for (const name of ['api', 'worker']) {
        const path = join(place['COORDINATOR_DATA_DIR'] ?? '', 'logs', `${name}.log`);
        const log = readFileSync(path, 'utf8').replaceAll('\\"', '"');
        expect(log).toMatch(/COORDINATOR_SECRET_KEYS/);
        expect(log).toMatch(reason);
      }
      expect(await call('/readyz')).toMatchObject({
        status: 200,
        body: { status: 'degraded', checks: { database: 'ok', temporal: 'ok', key_ring: 'failed' } },
      });
      const service = JSON.parse(readFileSync(join(place['COORDINATOR_DATA_DIR'] ?? '', 'service.json'), 'utf8'));
      const details = await (await fetch(`${service.admin_url}/readyz/internal`)).json();
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

  it('works as before when it gets its key ring back', async () => {
    await startWith(`${ring('k2', 2)},${ring('k1', 1)}`);
    expect(program.output).not.toMatch(/takes no work/);
    expect(await call('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect((await call('/api/v1/runs', { key: kept.session })).status).toBe(200);
    const tested = await call(`/api/v1/admin/connections/${kept.connection}/test`, { key: kept.key, body: {} });
    expect(tested.status, tested.text).toBe(200);
  });

  /** Makes the service seal values with its first key. */
  async function keepValues(): Promise<void> {
    kept.session = (await call('/api/v1/auth/sessions', { body: account })).body.token;
    kept.key = (await call('/api/v1/profile/api-keys', { key: kept.session, body: { name: 'reader' } })).body.key;
    const connection = { name: 'env', kind: 'generic', credentials: { variables: { A_TOKEN: 'secret' } } };
    const made = await call('/api/v1/admin/connections', { key: kept.key, body: connection });
    expect(made.status, made.text).toBe(201);
    kept.connection = made.body.id;
  }
});

describe('start with a configured administrator', () => {
  it('creates the administrator without printing the configured password', async () => {
    const program = await start({
      ...(await makePlace()),
      COORDINATOR_ADMIN_EMAIL: 'ops@example.com',
      COORDINATOR_ADMIN_PASSWORD: 'given by automation',
      COORDINATOR_SAMPLE: 'false',
      COORDINATOR_BASE_URL: 'https://coordinator.example.com',
    });
    expect(program.output).toContain('Administrator  ops@example.com');
    expect(program.output).not.toMatch(/given by automation|Greeting/);
    expect(program.output).toContain('Ready  https://coordinator.example.com ');
    const [, url] = await program.says(/(http:\/\/127\.0\.0\.1:\d+)\/api\/v1\/auth\/whoami/);
    const body = JSON.stringify({ email: 'ops@example.com', password: 'given by automation' });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${url}/api/v1/auth/sessions`, { method: 'POST', headers, body })).status).toBe(201);
  });
});
