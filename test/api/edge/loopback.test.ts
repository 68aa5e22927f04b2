import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Caller } from '#test/support/api/caller.ts';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';

const perAccount = 4;
const perAddress = 8;
const requests = 60;
/** An operating system user without any rights. */
const nobody = 65_534;

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await startApi({
    COORDINATOR_GUESSES_PER_ACCOUNT: String(perAccount),
    COORDINATOR_GUESSES_PER_ADDRESS: String(perAddress),
    COORDINATOR_REQUESTS_PER_ADDRESS: String(requests),
  });
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => api?.close());

let victim: ApiUser;
beforeEach(async () => {
  await api.rows('truncate rate_counts');
  victim = await api.addUser('requester');
});

const signIn = async (email: string, password: string, headers: Record<string, string> = {}) =>
  (await new Caller(url, headers).post('/auth/sessions', { email, password })).status;

/** Signs in from a program of another user of this machine. */
async function signInAs(uid: number, email: string, password: string): Promise<number> {
  const body = JSON.stringify({ email, password });
  const given = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'content-type: application/json', '-d', body];
  const { stdout } = await promisify(execFile)('curl', [...given, `${url}/api/v1/auth/sessions`], { uid, cwd: '/' });
  return Number(stdout);
}

const from = (address: string) => ({ 'x-forwarded-for': address });
const repeat = async (times: number, work: (index: number) => Promise<number>) => {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) statuses.push(await work(index));
  return statuses;
};

describe('wrong passwords from this machine', () => {
  it('are no longer checked for an account after the limit', async () => {
    const statuses = await repeat(perAccount + 2, () => signIn(victim.email, 'wrong'));
    expect(statuses).toEqual([...Array(perAccount).fill(401), 429, 429]);
  });

  it('wrong passwords from this machine for many accounts do not lock out users of other accounts', async () => {
    await repeat(perAddress * 2, (index) => signIn(`user-${index}@example.com`, 'wrong'));
    expect(await signIn(victim.email, testPassword)).toBe(201);
  });

  it.runIf(process.getuid?.() === 0)(
    'wrong passwords of one operating system user do not lock out another one',
    async () => {
      const statuses = await repeat(perAccount + 1, () => signInAs(nobody, victim.email, 'wrong'));
      expect(statuses.at(-1)).toBe(429);
      expect(await signIn(victim.email, testPassword)).toBe(201);
      expect(await signInAs(nobody, victim.email, testPassword)).toBe(429);
    },
  );
});

/** Sends a sign-in from a program of another user, which closes its connection at once. */
async function signInAndClose(uid: number, email: string): Promise<void> {
  const body = JSON.stringify({ email, password: 'wrong' });
  const { host, hostname, port } = new URL(url);
  const head = `POST /api/v1/auth/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const program = `const socket = require('node:net').connect(${port}, '${hostname}', () => {
    socket.write(${JSON.stringify(`${head}\r\n\r\n${body}`)}, () => process.exit());
  });`;
  await promisify(execFile)(process.execPath, ['-e', program], { uid, cwd: '/' });
}

it.runIf(process.getuid?.() === 0)(
  'wrong passwords over connections that another operating system user closes at once do not lock out root',
  async () => {
    await repeat(perAccount * 2, async () => {
      await signInAndClose(nobody, victim.email);
      return 0;
    });
    const counts = () => api.rows('select 1 from rate_counts');
    await expect.poll(async () => (await counts()).length).toBeGreaterThan(0);
    expect(await signIn(victim.email, testPassword)).toBe(201);
  },
);

describe('wrong passwords through a proxy on this machine that is not configured', () => {
  it('are counted for each address that the proxy reports', async () => {
    const statuses = await repeat(perAccount + 1, () =>
      signIn(victim.email, 'wrong', from('198.51.100.7, 203.0.113.1')),
    );
    expect(statuses.at(-1)).toBe(429);
    expect(await signIn(victim.email, testPassword, from('203.0.113.2'))).toBe(201);
    expect(await signIn(victim.email, testPassword, from('203.0.113.1'))).toBe(429);
  });

  it('wrong passwords for many accounts through a proxy that is not configured lock out only the reported address', async () => {
    await repeat(perAddress, (index) => signIn(`user-${index}@example.com`, 'wrong', from('203.0.113.1')));
    expect(await signIn(victim.email, testPassword, from('203.0.113.1'))).toBe(429);
    expect(await signIn(victim.email, testPassword, from('203.0.113.2'))).toBe(201);
  });

  it('are limited although a program may report any forwarded address', async () => {
    const statuses = await repeat(perAccount * 10 + 1, (index) =>
      signIn(victim.email, 'wrong', from(`203.0.113.${index}`)),
    );
    expect(statuses.at(-2)).toBe(401);
    expect(statuses.at(-1)).toBe(429);
  });
});

it('requests from this machine are limited even if a program reports another forwarded address with each', async () => {
  const ask = async (index: number) =>
    (await new Caller(url, from(`198.51.${100 + Math.floor(index / 250)}.${index % 250}`)).get('/system/version'))
      .status;
  let [asked, status] = [0, 200];
  // A minute may end meanwhile.
  while (status === 200 && asked <= requests * 20) status = await ask(asked++);
  expect(status).toBe(429);
  expect((await new Caller(url, {}).get('/system/version')).status).toBe(200);
});

it('wrong API keys from this machine do not use up the limit of requests that sign in', async () => {
  const guess = async () => (await new Caller(url, { 'x-api-key': 'dc_wrong' }).get('/auth/whoami')).status;
  const statuses = await repeat(requests + 5, guess);
  expect(statuses.at(-1)).toBe(429);
  expect(await signIn(victim.email, testPassword)).toBe(201);
});
