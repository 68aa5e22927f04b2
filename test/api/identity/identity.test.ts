import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import argon2 from 'argon2';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { newId } from '#domain/shared/ids.ts';
import { type InstallationKeys, openInstallation } from '#domain/shared/installation/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { addPerson, addServiceAccount, type Person } from '#test/support/access/people.ts';
import { type Answer, Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { startApi as startInProcess } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

const password = 'correct horse battery';
let api: TestApi;
let keys: InstallationKeys;
let ana: Person;
let ben: Person;

beforeAll(async () => {
  api = await startApi();
  keys = await openInstallation(api.orm, new KeyRing(api.config.secretKeys));
  ana = await addPerson(api, 'requester', {}, password);
  ben = await addPerson(api, 'requester', {}, password);
});
afterAll(() => api?.close());

const execute = <Row extends object>(sql: string, ...params: unknown[]) =>
  api.orm.em.fork().execute<Row[]>(sql, params);
const nobody = () => new Caller(api.url, {});
const bearing = (token: string) => new Caller(api.url, { authorization: `Bearer ${token}` });
const withCookie = (token: string, more = {}) =>
  new Caller(api.url, { cookie: `coordinator_session=${token}`, ...more });
const whoami = (caller: Caller) => caller.get('/auth/whoami');

async function signIn({ email }: { email: string }, secret = password): Promise<Answer> {
  return nobody().post('/auth/sessions', { email, password: secret });
}
async function openSession(person: Person): Promise<{ token: string; id: string; caller: Caller }> {
  const { body } = await signIn(person);
  return { token: body.token, id: body.session_id, caller: bearing(body.token) };
}

describe('signing in', () => {
  it('creates a session of 24 hours with a token and a cookie', async () => {
    const answer = await signIn(ana);
    expect(answer.status, answer.text).toBe(201);
    const [row] = await execute<{ seconds: number }>(
      'select extract(epoch from expires_at - created_at)::int as seconds from sessions where id = ?',
      answer.body.session_id,
    );
    expect(Math.abs((row?.seconds ?? 0) - 86_400)).toBeLessThanOrEqual(1);
    expect(answer.headers.get('location')).toBe(`/api/v1/auth/sessions/${answer.body.session_id}`);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^coordinator_session=[\w.-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const claims = JSON.parse(Buffer.from(answer.body.token.split('.')[1], 'base64url').toString());
    expect(claims).toEqual({
      iss: keys.id,
      sub: ana.id,
      sid: answer.body.session_id,
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(claims.exp - claims.iat).toBe(86_400);
    for (const caller of [bearing(answer.body.token), withCookie(answer.body.token)])
      expect((await whoami(caller)).body).toMatchObject({
        type: 'user',
        id: ana.id,
        email: ana.email,
        role: 'requester',
        credential: { type: 'session', id: answer.body.session_id },
      });
  });

  it('sets a secure cookie if the base URL is https', async () => {
    const secure = await startInProcess({ COORDINATOR_BASE_URL: 'https://coordinator.example.com' });
    try {
      const person = await secure.addUser('requester');
      const { headers } = await secure.nobody.post('/auth/sessions', { email: person.email, password });
      expect(String(headers['set-cookie'])).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
    } finally {
      await secure.close();
    }
  });

  it('gives the same answer for a wrong password and for an unknown, disabled or deleted user', async () => {
    const disabled = await addPerson(api, 'admin', {}, password);
    await execute('update principals set enabled = false where id = ?', disabled.id);
    const deleted = await addPerson(api, 'admin', {}, password);
    await execute('update principals set deleted_at = now() where id = ?', deleted.id);
    const answers = [
      await signIn(ana, 'wrong horse battery'),
      await signIn(ana, ''),
      await signIn(ana, `${password} `),
      await signIn({ email: 'nobody@example.com' }),
      await signIn(disabled),
      await signIn(deleted),
    ];
    for (const { status, text } of answers)
      expect([status, text]).toEqual([401, '{"error":"the e-mail address or the password is wrong"}']);
  });

  it('does the same work for an unknown user, a disabled user and a wrong password', async () => {
    const disabled = await addPerson(api, 'admin', {}, password);
    await execute('update principals set enabled = false where id = ?', disabled.id);
    const verify = vi.spyOn(argon2, 'verify');
    for (const email of [ana.email, 'stranger@example.com', disabled.email])
      await signIn({ email }, 'wrong horse battery');
    const costs = verify.mock.calls.map(([hash]) => hash.split('$').slice(1, 4).join());
    verify.mockRestore();
    expect(costs).toHaveLength(3);
    expect(new Set(costs)).toEqual(new Set(['argon2id,v=19,m=19456,p=1,t=2']));
  });

  it('ignores the case of the address', async () => {
    expect((await signIn({ email: ana.email.toUpperCase() })).status).toBe(201);
  });

  it('is limited after many failures, even concurrent ones', async () => {
    const victim = await addPerson(api, 'requester', {}, password);
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => signIn(victim, 'guess')))).map(
      (a) => a.status,
    );
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    const refused = await signIn(victim);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await signIn(ana)).status).toBe(201);
  });

  it('fails if the user is disabled while the password is being checked', async () => {
    const person = await addPerson(api, 'requester', {}, password);
    await expectRefusedDuring(person, 'update principals set enabled = false where id = ?');
  });

  it('fails if the password is changed while the old one is being checked', async () => {
    const person = await addPerson(api, 'requester', {}, password);
    await expectRefusedDuring(person, `update users set password_generation = password_generation + 1 where id = ?`);
  });

  /** Commits a change between the check of the password and the opening of the session. */
  async function expectRefusedDuring(person: Person, change: string): Promise<void> {
    const em = api.orm.em.fork();
    await em.begin();
    await em.execute('select 1 from principals where id = ? for no key update', [person.id]);
    await em.execute(change, [person.id]);
    const answer = signIn(person);
    await awaitLockWaits(api.orm);
    await em.commit();
    expect((await answer).status).toBe(401);
    expect(await execute('select 1 from sessions where user_id = ?', person.id)).toEqual([]);
  }
});

describe('a session', () => {
  it('ends after 24 hours, even if its token says otherwise', async () => {
    const { id, caller } = await openSession(ana);
    await execute(`update sessions set expires_at = now() - interval '1 second' where id = ?`, id);
    expect((await whoami(caller)).status).toBe(401);
    await execute(`update sessions set expires_at = now() + interval '1 hour' where id = ?`, id);
    expect((await whoami(caller)).status).toBe(200);
  });

  it('ends with its sign-out, unlike other sessions', async () => {
    const [one, two] = [await openSession(ana), await openSession(ana)];
    const answer = await one.caller.send('DELETE', '/auth/sessions/current');
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toMatch(/^coordinator_session=; /);
    expect((await whoami(one.caller)).status).toBe(401);
    expect((await one.caller.send('DELETE', '/auth/sessions/current')).status).toBe(401);
    expect((await whoami(two.caller)).status).toBe(200);
  });

  it('can be ended from another session of the same user, which keeps its cookie', async () => {
    const [one, two] = [await openSession(ana), await openSession(ana)];
    const cookie = withCookie(one.token, { 'sec-fetch-site': 'same-origin' });
    const answer = await cookie.send('DELETE', `/auth/sessions/${two.id}`);
    expect(answer.status, answer.text).toBe(204);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await whoami(two.caller)).status).toBe(401);
    expect((await cookie.send('DELETE', `/auth/sessions/${two.id}`)).status).toBe(404);
    const own = await cookie.send('DELETE', `/auth/sessions/${one.id}`);
    expect(own.headers.get('set-cookie')).toMatch(/^coordinator_session=; /);
  });

  it('a session of another user answers 404 when read or ended', async () => {
    const mine = await openSession(ana);
    const { caller } = await openSession(ben);
    for (const method of ['GET', 'DELETE']) {
      const foreign = await caller.send(method, `/auth/sessions/${mine.id}`);
      const missing = await caller.send(method, `/auth/sessions/${newId()}`);
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    }
    expect((await whoami(mine.caller)).status).toBe(200);
  });

  it('is listed with its user’s other active sessions only', async () => {
    const person = await addPerson(api, 'requester', {}, password);
    const [one, two] = [await openSession(person), await openSession(person)];
    const [gone, old] = [await openSession(person), await openSession(person)];
    await gone.caller.send('DELETE', '/auth/sessions/current');
    await execute(`update sessions set expires_at = now() where id = ?`, old.id);
    const { body } = await one.caller.get('/auth/sessions');
    expect(body.sessions.map(({ id, current }: { id: string; current: boolean }) => [id, current])).toEqual([
      [two.id, false],
      [one.id, true],
    ]);
    for (const ended of [gone, old]) expect((await one.caller.get(`/auth/sessions/${ended.id}`)).status).toBe(404);
    expect((await one.caller.get('/auth/sessions/current')).body).toMatchObject({ id: one.id, current: true });
  });

  it('is named by `current`, which an API key cannot use', async () => {
    const answer = await ana.caller.send('DELETE', '/auth/sessions/current');
    expect(answer.status, answer.text).toBe(400);
  });

  it('is rejected with the user’s keys as soon as the user is disabled', async () => {
    const person = await addPerson(api, 'admin', {}, password);
    const { caller } = await openSession(person);
    await execute('update principals set enabled = false where id = ?', person.id);
    for (const each of [caller, person.caller]) {
      expect((await whoami(each)).status).toBe(401);
      expect((await each.get('/users')).status).toBe(401);
      expect((await each.post('/organizations', { name: 'Late' })).status).toBe(401);
    }
  });

  it('acts with its user’s current role', async () => {
    const person = await addPerson(api, 'admin', {}, password);
    const { caller } = await openSession(person);
    expect((await caller.get('/users')).status).toBe(200);
    await execute(`update principals set role = 'requester' where id = ?`, person.id);
    expect((await caller.get('/users')).status).toBe(403);
    expect((await whoami(caller)).body.role).toBe('requester');
  });
});

describe('a session token', () => {
  const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;
  type Forgery = {
    key?: Buffer;
    alg?: string;
    iss?: string;
    sub?: string;
    sid?: string | undefined;
    exp?: number | undefined;
  };

  async function forge(session: { id: string }, changes: Forgery = {}): Promise<string> {
    const claims = { iss: keys.id, sub: ana.id, sid: session.id, iat: inAnHour() - 3700, exp: inAnHour(), ...changes };
    const { key = keys.sessionKey, alg = 'HS256', ...payload } = claims;
    return new SignJWT(payload as Record<string, unknown>).setProtectedHeader({ alg }).sign(key);
  }

  it('that is signed by this installation is accepted', async () => {
    expect((await whoami(bearing(await forge(await openSession(ana))))).status).toBe(200);
  });

  it.each([
    ['another key', { key: Buffer.alloc(32, 9) }],
    ['the key that binds commands', { key: 'binding' }],
    ['another algorithm by the same key', { alg: 'HS384' }],
    ['another issuer', { iss: newId() }],
    ['another service as issuer', { iss: 'https://accounts.google.com' }],
    ['the session of another user', { sub: 'ben' }],
    ['a user without a session', { sid: newId() }],
    ['no session', { sid: undefined }],
    ['no expiry', { exp: undefined }],
    ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['a session that is not an id', { sid: `' or '1'='1` }],
    ['an API key as the session', { sid: 'api key' }],
  ] as [string, object][])('is refused with %s', async (_name, forgery: Forgery & { key?: unknown }) => {
    const session = await openSession(ana);
    const changes = { ...forgery } as Forgery;
    if (forgery.sub === 'ben') changes.sub = ben.id;
    if (forgery.sid === 'api key') changes.sid = ana.keyId;
    if ((forgery.key as unknown) === 'binding') changes.key = keys.bindingKey;
    const answer = await whoami(bearing(await forge(session, changes)));
    expect(answer.status, answer.text).toBe(401);
  });

  it('is refused unsigned, with changed claims, or with a cut signature', async () => {
    const session = await openSession(ana);
    const claims = { iss: keys.id, sub: ana.id, sid: session.id, iat: inAnHour() - 3700, exp: inAnHour() };
    const [header, payload, signature] = session.token.split('.') as [string, string, string];
    const { token: other } = await openSession(ben);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = [
      new UnsecuredJWT(claims).encode(),
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'NONE' })}.${payload}.${signature}`,
      `${header}.${encode({ ...claims, sub: ben.id })}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(0, -2)}`,
      `${header}.${payload}.${other.split('.')[2]}`,
      `${header}.${payload}.${signature}.${signature}`,
      'x',
      'null',
      '{}',
      '.',
      '..',
      session.id,
      ana.key,
    ];
    for (const token of forged) {
      expect((await whoami(bearing(token))).status, token).toBe(401);
      expect((await whoami(withCookie(token))).status, token).toBe(401);
    }
    expect((await whoami(session.caller)).status).toBe(200);
  });
});

describe('a credential', () => {
  it('is required', async () => {
    const none: Record<string, string>[] = [{}, { cookie: 'coordinator_session=' }, { cookie: 'other=1' }];
    for (const headers of none) expect((await whoami(new Caller(api.url, headers))).status).toBe(401);
  });

  it('must be the only one in a request, even if two are valid', async () => {
    const { token } = await openSession(ana);
    const bearer = { authorization: `Bearer ${token}` };
    const cookie = { cookie: `coordinator_session=${token}` };
    const key = { 'x-api-key': ana.key };
    for (const headers of [
      { ...bearer, ...key },
      { ...cookie, ...key },
      { ...bearer, ...cookie },
      { ...bearer, ...cookie, ...key },
    ])
      expect((await whoami(new Caller(api.url, headers))).status, Object.keys(headers).join()).toBe(400);
  });

  it.each(['Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b', 'Token x', ''])(
    'a credential of an unknown form is refused: Authorization: %s',
    async (authorization) => {
      expect((await whoami(new Caller(api.url, { authorization }))).status).toBe(401);
    },
  );
});

describe('a request by session cookie', () => {
  it.each([
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [403, { 'sec-fetch-site': 'none' }],
    [403, { 'sec-fetch-site': 'cross-site', origin: 'own' }],
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { origin: 'other port' }],
    [403, { origin: 'longer host' }],
    [201, { 'sec-fetch-site': 'same-origin' }],
    [201, { origin: 'own' }],
    [403, {}],
  ] as [number, Record<string, string>][])(
    'a request by session cookie that changes something answers %i with the headers %j',
    async (status, headers) => {
      const { token } = await openSession(ana);
      const origins: Record<string, string> = {
        own: api.url,
        'other port': 'http://127.0.0.1:1',
        'longer host': `${api.url}.evil.example`,
      };
      const sent = Object.entries(headers).map(([name, value]) => [name, origins[value] ?? value]);
      const answer = await withCookie(token, Object.fromEntries(sent)).post('/profile/api-keys', { name: 'by cookie' });
      expect(answer.status, answer.text).toBe(status);
    },
  );

  it('a request by session cookie that only reads is refused from scripts of other sites, and accepted without the header sec-fetch-site', async () => {
    const { token } = await openSession(ana);
    // `fetch` itself sends `Sec-Fetch-Mode: cors`, as it does in a browser.
    expect((await whoami(withCookie(token, { 'sec-fetch-site': 'cross-site' }))).status).toBe(403);
    expect((await whoami(withCookie(token))).status).toBe(200);
  });

  it('is the only kind of request whose origin is checked', async () => {
    const { token } = await openSession(ana);
    const credentials: Record<string, string>[] = [{ authorization: `Bearer ${token}` }, { 'x-api-key': ana.key }];
    for (const headers of credentials) {
      const caller = new Caller(api.url, { ...headers, 'sec-fetch-site': 'cross-site', origin: 'https://ci.example' });
      expect((await caller.post('/profile/api-keys', { name: 'from afar' })).status).toBe(201);
    }
  });
});

describe('an API key', () => {
  const make = async (person: Person, body: object = {}) => {
    const { body: made } = await person.caller.post('/profile/api-keys', { name: 'ci', ...body });
    return { ...made, caller: new Caller(api.url, { 'x-api-key': made.key }) };
  };

  it('is shown only once, and afterwards by its last four characters', async () => {
    const made = await make(ana);
    expect(made.key).toMatch(/^dc_[0-9A-Za-z]{49}$/);
    expect(made.api_key).toMatchObject({ name: 'ci', hint: made.key.slice(-4), expires_at: null, revoked_at: null });
    expect((await whoami(made.caller)).body).toMatchObject({
      id: ana.id,
      credential: { type: 'api_key', id: made.api_key.id },
    });
    for (const path of ['', `/${made.api_key.id}`])
      expect((await ana.caller.get(`/profile/api-keys${path}`)).text).not.toContain(made.key.slice(0, -4));
  });

  it('is refused if it is unknown, misspelled or sent as a bearer token', async () => {
    const misspelled = ana.key.slice(0, -1) + (ana.key.endsWith('x') ? 'y' : 'x');
    for (const key of [generateApiKey(), misspelled, `${ana.key} ${ana.key}`, ana.key.slice(3), 'dc_', '', '%'])
      expect((await whoami(new Caller(api.url, { 'x-api-key': key }))).status, key).toBe(401);
    const twice = new Caller(api.url, { 'x-api-key': `${ana.key}, ${ben.key}` });
    expect((await whoami(twice)).status).toBe(401);
  });

  it('is refused as a bearer token, as a session token is as an API key, with the name of the right header', async () => {
    const session = await openSession(ana);
    const asBearer = await whoami(bearing(ana.key));
    expect([asBearer.status, asBearer.body.error]).toEqual([
      401,
      expect.stringMatching(/; this looks like an API key, which belongs in the header X-API-Key$/),
    ]);
    expect(asBearer.text).not.toContain(ana.key.slice(3));
    const asKey = await whoami(new Caller(api.url, { 'x-api-key': session.token }));
    expect([asKey.status, asKey.body.error]).toEqual([
      401,
      expect.stringMatching(
        /; an API key begins with dc_, and a session token belongs in the header Authorization: Bearer$/,
      ),
    ]);
    expect(asKey.text).not.toContain(session.token);
    const misspelled = await whoami(new Caller(api.url, { 'x-api-key': generateApiKey() }));
    expect(misspelled.body.error).not.toMatch(/header/);
    expect((await whoami(bearing('some-token'))).body.error).not.toMatch(/header/);
  });

  it('an API key of an impossible form is refused without a query', async () => {
    const queries = async () =>
      (
        await execute<{ n: string }>(
          `select sum(idx_scan)::text as n from pg_stat_user_indexes where indexrelname = 'api_keys_verifier_unique'`,
        )
      )[0]?.n;
    const flush = () => execute('select pg_stat_force_next_flush()');
    await flush();
    const before = await queries();
    for (let index = 0; index < 5; index += 1)
      await whoami(new Caller(api.url, { 'x-api-key': `dc_${'a'.repeat(49)}` }));
    await flush();
    expect(await queries()).toBe(before);
  });

  it('is refused once it is revoked, unlike its owner’s other keys', async () => {
    const [one, two] = [await make(ana), await make(ana)];
    const revoked = await one.caller.send('DELETE', `/profile/api-keys/${one.api_key.id}`);
    expect(revoked.status, revoked.text).toBe(204);
    expect((await whoami(one.caller)).status).toBe(401);
    expect((await whoami(two.caller)).status).toBe(200);
    expect((await ana.caller.send('DELETE', `/profile/api-keys/${one.api_key.id}`)).status).toBe(409);
    const { body } = await ana.caller.get(`/profile/api-keys/${one.api_key.id}`);
    expect(body.revoked_at).toMatch(/^\d{4}-/);
  });

  it('is refused after its expiry, which must be in the future when it is created', async () => {
    const soon = await make(ana, { expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect((await whoami(soon.caller)).status).toBe(200);
    await execute('update api_keys set expires_at = now() where id = ?', soon.api_key.id);
    expect((await whoami(soon.caller)).status).toBe(401);
    for (const expires of [new Date(Date.now() - 1).toISOString(), 'tomorrow', '2026-13-01T00:00:00Z', null]) {
      const answer = await ana.caller.post('/profile/api-keys', { name: 'late', expires_at: expires });
      expect(answer.status, String(expires)).toBe(400);
    }
  });

  it('an API key of another user answers 404 when read or revoked', async () => {
    const made = await make(ana);
    for (const method of ['GET', 'DELETE'])
      expect((await ben.caller.send(method, `/profile/api-keys/${made.api_key.id}`)).status).toBe(404);
    expect((await ben.caller.get('/profile/api-keys')).text).not.toContain(made.api_key.id);
    expect((await whoami(made.caller)).status).toBe(200);
  });

  it('an API key of a service account belongs to the account and outlives its creator', async () => {
    const account = await addServiceAccount(api, 'maintainer');
    await execute('update api_keys set issued_by = ? where id = ?', ben.id, account.keyId);
    expect((await whoami(account.caller)).body).toMatchObject({
      type: 'service_account',
      email: null,
      role: 'maintainer',
    });
    expect((await account.caller.get('/auth/sessions')).status).toBe(403);
    await execute('update principals set enabled = false where id = ?', account.id);
    expect((await whoami(account.caller)).status).toBe(401);
  });

  it('records its last use at most once a minute, even with concurrent requests', async () => {
    const person = await addPerson(api, 'requester');
    await execute(`create table writes (at timestamptz default clock_timestamp())`);
    await execute(
      `create function note_write() returns trigger language plpgsql as 'begin insert into writes default values; return null; end'`,
    );
    await execute(
      `create trigger note_write after insert or update on api_key_uses for each row execute function note_write()`,
    );
    const burst = () => Promise.all(Array.from({ length: 25 }, () => whoami(person.caller)));
    const written = async () => (await execute('select 1 from writes')).length;
    await burst();
    await expect.poll(written).toBe(1);
    await burst();
    expect(await written()).toBe(1);
    await execute(
      `update api_key_uses set last_used_at = now() - interval '61 seconds' where key_id = ?`,
      person.keyId,
    );
    await burst();
    await expect.poll(written).toBe(3); // the test's own update is one of them
    const { body } = await person.caller.get(`/profile/api-keys/${person.keyId}`);
    expect(Date.now() - Date.parse(body.last_used_at)).toBeLessThan(60_000);
  });
});

describe('stored secrets', () => {
  it('are only verifiers, and no table contains a key, a password or a token', async () => {
    const person = await addPerson(api, 'requester', {}, 'Zauberwort-7391');
    const { token } = (await signIn(person, 'Zauberwort-7391')).body;
    await signIn(person, 'Zauberwort-7392');
    const { key } = (await bearing(token).post('/profile/api-keys', { name: 'kept' })).body;
    await whoami(new Caller(api.url, { 'x-api-key': key }));
    await whoami(new Caller(api.url, { 'x-api-key': `${key}x` }));
    const secrets = [key, key.slice(3), 'Zauberwort-7391', 'Zauberwort-7392', token, token.split('.')[2]];
    const forms = secrets.flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ]);
    const tables = await execute<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(15);
    for (const { name } of tables)
      for (const form of forms) {
        const found = await execute(`select 1 from ${name} t where strpos(t::text, ?) > 0`, form);
        expect(found, `${name} holds a secret`).toEqual([]);
      }
    const digest = createHash('sha256').update(key).digest();
    expect(await execute('select 1 from api_keys where verifier = ?', digest)).toHaveLength(1);
    const [user] = await execute<{ password_hash: string }>('select password_hash from users where id = ?', person.id);
    expect(user?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,p?t?=/);
    // The tests keep code for the service's threads and workflows there.
    expect(readdirSync(api.config.dataDir).filter((name) => name !== 'cache')).toEqual([]);
  });
});
