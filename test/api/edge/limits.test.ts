import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { isPublic } from '#api/pipeline/operation.ts';
import { addPerson, type Person } from '#test/support/access/people.ts';
import { type ApiProcess, startApiProcess } from '#test/support/api/api-process.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

let api: TestApi;
let processes: ApiProcess[];
let proxy: TcpProxy;
const max = 60;
const perAddress = 400;

beforeAll(async () => {
  api = await startApi();
  const { hostname, port } = new URL(api.database.url);
  proxy = await startProxy({ host: hostname, port: Number(port) });
  processes = await Promise.all([api.database.url, behind(proxy)].map(startProcess));
});
afterAll(async () => {
  await Promise.all((processes ?? []).map((process) => process.stop()));
  await proxy?.close();
  await api?.close();
});

const first = () => processes[0]!;
const second = () => processes[1]!;

function behind({ port }: TcpProxy): string {
  const url = new URL(api.database.url);
  url.port = String(port);
  return url.href;
}

function startProcess(databaseUrl: string): Promise<ApiProcess> {
  return startApiProcess({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    LOG_LEVEL: 'silent',
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: api.config.dataDir,
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    COORDINATOR_TRUSTED_PROXIES: '127.0.0.1',
    COORDINATOR_REQUESTS_PER_PRINCIPAL: String(max),
    COORDINATOR_REQUESTS_PER_ADDRESS: String(perAddress),
    COORDINATOR_GUESSES_PER_ACCOUNT: '4',
    ENABLE_ADMIN_BOOTSTRAP: 'true',
    ADMIN_BOOTSTRAP_TOKEN: 'the right token of this installation',
  });
}

const signIn = ({ url }: ApiProcess, email: string, password: string, address = '203.0.113.1') =>
  new Caller(url, { 'x-forwarded-for': address }).post('/auth/sessions', { email, password });

describe('attempts with a wrong password', () => {
  it('are counted exactly across all processes', async () => {
    const guesses = Array.from({ length: 20 }, (_, index) =>
      signIn(processes[index % 2]!, 'nobody@example.com', 'wrong password'),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(16);
  });

  it('do not lock out the user from other addresses, and answer Retry-After', async () => {
    const password = 'correct horse battery';
    const { email } = await addPerson(api, 'requester', {}, password);
    for (let attempt = 0; attempt < 4; attempt += 1) await signIn(first(), email, 'wrong password');
    const refused = await signIn(second(), email, password);
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      error: expect.stringMatching(/^too many failed attempts: try again in \d+ seconds$/),
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(200);
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect((await signIn(second(), email, password, '203.0.113.2')).status).toBe(201);
  });

  it('answer 503 while the database cannot count them', async () => {
    proxy.shut();
    const answer = await signIn(second(), 'somebody@example.com', 'wrong password', '203.0.113.3');
    proxy.open();
    expect(answer.status, answer.text).toBe(503);
  });
});

describe('attempts with a wrong bootstrap token', () => {
  it('are counted across all processes', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const response = await fetch(`${processes[attempt % 2]!.url}/bootstrap/admin`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-bootstrap-token': `guess ${attempt}` },
        body: JSON.stringify({ email: 'a@example.com', name: 'A', password: 'correct horse battery' }),
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
  });
});

describe('commands', () => {
  it('limit wrong attempts if they are public or have a secret in their body', () => {
    const secrets = ['token', 'current_password'];
    const unlimited = operations.filter((operation) => {
      if (operation.kind === 'read' || operation.limitGuesses || 'guessedAs' in operation.access) return false;
      const fields = operation.body && 'shape' in operation.body ? Object.keys(operation.body.shape as object) : [];
      return isPublic(operation.access) || fields.some((name) => secrets.includes(name));
    });
    expect(unlimited.map(({ id }) => id)).toEqual([]);
  });

  it('answer 429 after several wrong tokens', async () => {
    const { caller } = await addPerson(api, 'requester');
    const asUrl = ({ url }: ApiProcess) => new Caller(url, { 'x-forwarded-for': '203.0.113.9' });
    const redeem = (at: ApiProcess, token: string) =>
      asUrl(at).post('/password-reset', { token, new_password: 'correct horse battery' });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1)
      statuses.push((await redeem(processes[attempt % 2]!, `guess-${attempt}`)).status);
    expect(
      statuses.slice(0, 4).every((status) => [400, 401, 403, 404].includes(status)),
      statuses.join(),
    ).toBe(true);
    expect(statuses.slice(4)).toEqual([429, 429]);
    expect((await caller.get('/auth/whoami')).status).toBe(200);
  });
});

describe('requests', () => {
  const whoami = ({ url }: ApiProcess, key: string, headers = {}) =>
    new Caller(url, { 'x-api-key': key, ...headers }).get('/auth/whoami');
  const nobody = (address: string, key?: string) =>
    new Caller(first().url, { 'x-forwarded-for': address, ...(key && { 'x-api-key': key }) }).get('/auth/whoami');
  const left = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));
  const endsIn = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-reset'));

  /**
   * A user who has sent one request, at the beginning of a window. The windows of users end at different times. If one ended between the
   * requests of a test, it would count from the beginning.
   */
  async function personWithTime(): Promise<Person> {
    for (;;) {
      const person = await addPerson(api, 'requester');
      if (endsIn(await whoami(first(), person.key)) > 45) return person;
    }
  }

  /** Like `personWithTime`, an address. */
  async function addressWithTime(): Promise<string> {
    for (let last = 3; ; last += 1) if (endsIn(await nobody(`198.51.100.${last}`)) > 45) return `198.51.100.${last}`;
  }

  it('answer the limit and the remaining count, and 429 beyond the limit', async () => {
    const { key } = await personWithTime();
    for (let sent = 2; sent <= max; sent += 1) {
      const answer = await whoami(first(), key);
      expect(answer.status).toBe(200);
      expect(left(answer)).toBe(max - sent);
      expect(answer.headers.get('ratelimit-limit')).toBe(String(max));
      expect(endsIn(answer)).toBeLessThanOrEqual(60);
    }
    const refused = await whoami(first(), key);
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ error: expect.stringMatching(/^too many requests: try again in \d+ seconds?$/) });
    expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'));
    expect(left(refused)).toBe(0);
  });

  it('are counted across all processes by principal, regardless of the address', async () => {
    const { key } = await personWithTime();
    await Promise.all(
      Array.from({ length: max - 6 }, (_, index) => whoami(first(), key, { 'x-forwarded-for': `203.0.113.${index}` })),
    );
    await expect.poll(async () => left(await whoami(second(), key)), { interval: 200, timeout: 5_000 }).toBeLessThan(5);
    expect((await whoami(first(), (await addPerson(api, 'requester')).key)).status).toBe(200);
  });

  it('requests without a valid credential are counted by address', async () => {
    const address = await addressWithTime();
    const answers = [];
    for (let sent = 1; sent < perAddress; sent += 57)
      answers.push(
        ...(await Promise.all(Array.from({ length: 57 }, (_, at) => nobody(address, at % 2 ? 'no' : undefined)))),
      );
    expect(answers).toHaveLength(perAddress - 1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await nobody(address)).status).toBe(429);
    expect((await nobody('198.51.100.2')).status).toBe(401);
    const { key } = await addPerson(api, 'requester');
    expect((await nobody(address, key)).status).toBe(200);
  });

  it('requests for health, documentation and metrics are not counted', async () => {
    for (const path of ['/health', '/healthz', '/readyz', '/api/docs'])
      expect((await fetch(first().url + path)).headers.get('ratelimit-limit'), path).toBeNull();
  });

  it('are counted by each process separately while the database is unreachable', async () => {
    const { key } = await personWithTime();
    await api.orm.em.execute('alter table rate_counts rename to rate_counts_away');
    try {
      const answers = [];
      for (let sent = 1; sent <= max; sent += 1) answers.push((await whoami(first(), key)).status);
      expect(answers.filter((status) => status === 200)).toHaveLength(max - 1);
      expect(answers.at(-1)).toBe(429);
    } finally {
      await api.orm.em.execute('alter table rate_counts_away rename to rate_counts');
    }
  });
});
