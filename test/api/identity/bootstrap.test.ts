import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { loadConfig } from '#config';
import { addPerson, addServiceAccount, addTeam } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { startApi as startInProcess } from '#test/support/api/in-process-api.ts';

const token = 'bootstrap-token-of-the-tests';
// These tests send wrong tokens.
const unlimited = { COORDINATOR_GUESSES_PER_ACCOUNT: '0', COORDINATOR_GUESSES_PER_ADDRESS: '0' };
const enabled = { ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: token, ...unlimited };
const ana = { email: 'Ana@example.com', name: 'Ana', password: 'correct horse battery' };
const tokenHeader = { 'x-service-bootstrap-token': token };

async function post(url: string, body: unknown = ana, headers: Record<string, string> = tokenHeader) {
  const response = await fetch(`${url}/bootstrap/admin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, body: text ? JSON.parse(text) : undefined };
}

describe('the bootstrap of an installation', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(enabled);
  });
  afterAll(() => api?.close());
  afterEach(async () => {
    const em = api.orm.em.fork();
    const tables = ['sessions', 'service_accounts', 'users', 'api_keys', 'principals'];
    for (const table of tables) await em.execute(`delete from ${table}`);
  });

  it('creates the first administrator, who can sign in and administer', async () => {
    const made = await post(api.url);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: ana.email,
      name: 'Ana',
      role: 'admin',
      enabled: true,
    });
    expect(made.text).not.toContain(ana.password);
    const session = await Caller.signIn(api.url, 'ana@EXAMPLE.com', ana.password);
    expect((await session.get('/auth/whoami')).body).toMatchObject({ id: made.body.id, role: 'admin', type: 'user' });
    const rows = await api.orm.em.fork().execute(`select * from audit_records where action = 'user.bootstrapped'`);
    expect(rows).toMatchObject([{ resource_id: made.body.id, outcome: 'committed', actor_name: 'anonymous' }]);
    expect(JSON.stringify(rows)).not.toContain(ana.password);
  });

  it('works only once, and later requests answer 409, even for another address', async () => {
    expect((await post(api.url)).status).toBe(201);
    const again = await post(api.url, { ...ana, email: 'ben@example.com' });
    expect(again).toMatchObject({ status: 409, body: { error: expect.stringMatching(/already has users/) } });
    expect((await post(api.url, ana)).status).toBe(409);
  });

  it('creates one administrator from 20 concurrent requests to two API processes', async () => {
    const other = await runApi(api.config);
    try {
      const requests = Array.from({ length: 20 }, (_, index) =>
        post(index % 2 ? api.url : other.url, { ...ana, email: `admin${index}@example.com` }),
      );
      const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
      expect(statuses).toEqual([201, ...Array<number>(19).fill(409)]);
      const users = await api.orm.em.fork().execute<{ n: number }[]>('select count(*)::int as n from users');
      expect(users).toEqual([{ n: 1 }]);
    } finally {
      await other.close();
    }
  });

  it('is refused once there was any user, even a deleted one without rights', async () => {
    const requester = await addPerson(api, 'requester');
    expect((await post(api.url)).status).toBe(409);
    const em = api.orm.em.fork();
    await em.execute('update principals set enabled = false where id = ?', [requester.id]);
    expect((await post(api.url)).status).toBe(409);
    await em.execute('update principals set deleted_at = now() where id = ?', [requester.id]);
    expect((await post(api.url)).status).toBe(409);
  });

  it('is refused if a service account is an administrator', async () => {
    const { teamId } = await addTeam(api.orm);
    await addServiceAccount(api, 'admin', {}, { teamId });
    expect((await post(api.url)).status).toBe(409);
  });

  it.each([
    ['no token', {}],
    ['an empty token', { 'x-service-bootstrap-token': '' }],
    ['another token', { 'x-service-bootstrap-token': 'x'.repeat(token.length) }],
    ['the beginning of the token', { 'x-service-bootstrap-token': token.slice(0, -1) }],
    ['more than the token', { 'x-service-bootstrap-token': `${token}x` }],
    ['the token in capitals', { 'x-service-bootstrap-token': token.toUpperCase() }],
    ['the token twice', { 'x-service-bootstrap-token': `${token}, ${token}` }],
    ['the token as a bearer', { authorization: `Bearer ${token}` }],
    ['the token as an API key', { 'x-api-key': token }],
  ])('answers 401 with %s, for any body', async (_name, headers: Record<string, string>) => {
    for (const body of [ana, { ...ana, password: 'short' }, '{', {}]) {
      const answer = await post(api.url, body, headers);
      expect(answer.status, answer.text).toBe(401);
      expect(answer.text).not.toContain(token);
    }
    expect(await api.orm.em.fork().execute('select 1 from users')).toEqual([]);
  });

  it.each([
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-port',
    'x-forwarded-server',
    'x-forwarded',
    'x-original-forwarded-for',
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'fastly-client-ip',
    'via',
    'X-FORWARDED-FOR',
    'x-envoy-external-address',
    'x-azure-clientip',
    'client-ip',
    'proxy-connection',
    'x-anything',
  ])('answers 403 through a proxy, recognized by the header %s', async (header) => {
    for (const value of ['127.0.0.1', 'for=127.0.0.1', '']) {
      const answer = await post(api.url, ana, { ...tokenHeader, [header]: value });
      expect(answer.status, answer.text).toBe(403);
    }
    expect((await post(api.url)).status).toBe(201);
  });

  it.each([
    ['a password of 7 characters', { password: '1234567' }],
    ['a password of spaces', { password: ' '.repeat(12) }],
    ['a password that repeats one character', { password: 'a'.repeat(20) }],
    ['a password of two characters', { password: '1212121212' }],
    ['its address as the password', { password: 'ANA@example.com' }],
    ['no password', { password: undefined }],
    ['a number as the password', { password: 12345678 }],
    ['no address', { email: undefined }],
    ['half an address', { email: 'ana@' }],
    ['no name', { name: '   ' }],
    ['a role', { role: 'requester' }],
    ['an unknown field', { enabled: false }],
  ])('answers 400 with %s', async (_name, change) => {
    const answer = await post(api.url, { ...ana, ...change });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.error).toMatch(/\S/);
    expect(answer.text).not.toMatch(/1234567|aaaa|1212/);
    expect(await api.orm.em.fork().execute('select 1 from principals')).toEqual([]);
  });
});

describe('bootstrap while it is not enabled', () => {
  it.each([
    ['by default', {}],
    ['although a token is configured', { ADMIN_BOOTSTRAP_TOKEN: token }],
    ['when turned off', { ENABLE_ADMIN_BOOTSTRAP: 'false', ADMIN_BOOTSTRAP_TOKEN: token }],
  ])('answers 404 %s, for any body', async (_name, settings: Record<string, string>) => {
    const api = await startApi(settings);
    try {
      for (const body of [ana, { ...ana, password: 'short' }, '{', '']) {
        const answer = await post(api.url, body);
        expect(answer.status, answer.text).toBe(404);
      }
      expect((await post(api.url, ana, {})).status).toBe(404);
      expect((await post(api.url, ana, { ...tokenHeader, 'x-forwarded-for': '10.0.0.1' })).status).toBe(404);
    } finally {
      await api.close();
    }
  });

  it('cannot be enabled without a token', () => {
    expect(() => loadConfig({ ENABLE_ADMIN_BOOTSTRAP: 'true' })).toThrow('ADMIN_BOOTSTRAP_TOKEN is missing');
  });
});

describe('bootstrap over an interface other than loopback', () => {
  it('is refused, even from a trusted proxy', async () => {
    const api = await startInProcess({ ...enabled, COORDINATOR_TRUSTED_PROXIES: '10.0.0.0/8' });
    try {
      const from = (remoteAddress: string) =>
        api.app.inject({ method: 'POST', url: '/bootstrap/admin', remoteAddress, headers: tokenHeader, payload: ana });
      for (const address of ['10.0.0.9', '::ffff:10.0.0.9', '192.168.1.2', '128.0.0.1', '::2', 'fe80::1', '1.127.0.0'])
        expect((await from(address)).statusCode, address).toBe(403);
      expect((await from('::ffff:127.0.0.1')).statusCode).toBe(201);
      for (const address of ['127.0.0.1', '127.8.8.8', '::1'])
        expect((await from(address)).statusCode, address).toBe(409);
    } finally {
      await api.close();
    }
  });
});
