import argon2 from 'argon2';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isCommonPassword } from '#domain/identity/passwords/common-passwords.ts';
import { hashPassword, isOutdated, verifyPassword } from '#domain/identity/passwords/passwords.ts';
import { recoverAdministrator } from '#domain/identity/recovery.ts';
import { ConcurrencyLimit } from '#domain/shared/tasks/concurrency-limit.ts';
import {
  type ApiAnswer,
  type ApiUser,
  startApi,
  type TestApi,
  testPassword,
} from '#test/support/api/in-process-api.ts';

let api: TestApi;
let root: ApiUser;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_GUESSES_PER_ACCOUNT: '0' });
  root = await api.addUser('admin', 'Root');
});
afterAll(() => api?.close());

const wanted = 'another good one';
const change = (by: ApiUser, more: Record<string, string> = {}) =>
  by.post('/profile/password', {
    current_password: testPassword,
    new_password: wanted,
    confirm_password: wanted,
    ...more,
  });
const whoami = async (user: ApiUser) => (await user.get('/auth/whoami')).status;
const whoamiBy = async (token: string) =>
  (await api.nobody.send('GET', '/auth/whoami', undefined, { authorization: `Bearer ${token}` })).status;
const issue = async (user: ApiUser) => (await root.post(`/users/${user.id}/password-reset`)).body;
const redeem = (token: string, password = wanted) =>
  api.nobody.post('/password-reset', { token, new_password: password });

describe('changing one’s own password', () => {
  it('ends every session, opens a new one for the caller, and keeps API keys', async () => {
    const user = await api.addUser('requester');
    const [here, elsewhere] = await Promise.all([api.signIn(user), api.signIn(user)]);
    const answer = await change(here);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.user.id).toBe(user.id);
    expect(String(answer.headers['set-cookie'])).toContain(`coordinator_session=${answer.body.token};`);
    for (const session of [here, elsewhere]) expect(await whoami(session)).toBe(401);
    expect(await whoamiBy(answer.body.token)).toBe(200);
    expect(await whoami(user)).toBe(200);
    await expect(api.signIn(user)).rejects.toThrow('401');
    await api.signIn(user, wanted);
    const audit = await api.rows(`select action, before, after from audit_records where resource_id = ?`, [user.id]);
    expect(audit).toEqual([{ action: 'user.password_changed', before: null, after: { revoked_api_keys: 0 } }]);
  });

  it.each([
    [{ current_password: 'not my password' }, 'current_password'],
    [{ current_password: '' }, 'current_password'],
    [{ confirm_password: 'another good two' }, 'confirm_password'],
    [{ new_password: 'seven77', confirm_password: 'seven77' }, 'new_password'],
    [{ new_password: '         ', confirm_password: '         ' }, 'new_password'],
    [{ new_password: 'Password1', confirm_password: 'Password1' }, 'new_password'],
    [{ password: 'x' }, 'password'],
  ])('is refused with %j, and no session ends', async (more, field) => {
    const session = await api.signIn(await api.addUser('requester'));
    const answer = await change(session, more as Record<string, string>);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } });
    expect(await whoami(session)).toBe(200);
  });

  it('needs all three fields, and a session', async () => {
    const user = await api.addUser('requester');
    const session = await api.signIn(user);
    for (const missing of ['current_password', 'new_password', 'confirm_password']) {
      const fields = { current_password: testPassword, new_password: wanted, confirm_password: wanted };
      const { [missing as keyof typeof fields]: _, ...rest } = fields;
      expect((await session.post('/profile/password', rest)).status, missing).toBe(400);
    }
    expect((await change(user)).status).toBe(403);
  });

  it('is limited after wrong current passwords', async () => {
    const own = await startApi();
    const session = await own.signIn(await own.addUser('requester'));
    const answers: ApiAnswer[] = [];
    for (let guess = 0; guess < 11; guess += 1)
      answers.push(await change(session, { current_password: `guess ${guess}` }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(400), 429]);
    expect(Number(answers[10]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await change(session)).status).toBe(429);
    await own.close();
  });

  it('succeeds only once if two sessions try at the same time', async () => {
    const user = await api.addUser('requester');
    const sessions = await Promise.all([api.signIn(user), api.signIn(user)]);
    const answers = await Promise.all(sessions.map((session) => change(session)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await api.rows('select 1 from sessions where user_id = ? and revoked_at is null', [user.id])).toHaveLength(
      1,
    );
  });
});

describe('a link to set a new password', () => {
  it('works only once, ends all sessions, and is stored only as a verifier', async () => {
    const user = await api.addUser('requester');
    const session = await api.signIn(user);
    const { url, token, expires_at } = await issue(user);
    expect(url).toMatch(new RegExp(`^http://[^/]+/password-reset#token=${token}$`));
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(await whoami(session)).toBe(200);
    for (const table of ['password_resets', 'audit_records', 'command_receipts'])
      expect(await api.rows(`select 1 from ${table} t where strpos(t::text, ?) > 0`, [token])).toEqual([]);
    const answer = await redeem(token);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await whoami(session)).toBe(401);
    await api.signIn(user, wanted);
    expect(await redeem(token, 'yet another one')).toMatchObject({ status: 400 });
    const [row] = await api.rows(
      `select actor_id, action from audit_records where resource_id = ? order by at desc limit 1`,
      [user.id],
    );
    expect(row).toEqual({ actor_id: user.id, action: 'user.password_reset' });
  });

  it('starts with the base URL if it is set', async () => {
    const public_ = await startApi({ COORDINATOR_BASE_URL: 'https://coordinator.example.com' });
    const [admin, user] = [await public_.addUser('admin'), await public_.addUser('requester')];
    const { body } = await admin.post(`/users/${user.id}/password-reset`);
    expect(body.url).toBe(`https://coordinator.example.com/password-reset#token=${body.token}`);
    await public_.close();
  });

  it('starts with the origin that a trusted proxy forwards if no base URL is set', async () => {
    const proxied = await startApi({ COORDINATOR_TRUSTED_PROXIES: '127.0.0.1' });
    const [admin, user] = [await proxied.addUser('admin'), await proxied.addUser('requester')];
    const { body } = await admin.post(`/users/${user.id}/password-reset`, undefined, {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'coordinator.localhost',
    });
    expect(body.url).toBe(`https://coordinator.localhost/password-reset#token=${body.token}`);
    await proxied.close();
  });

  it.each<[string, (user: ApiUser) => Promise<unknown>]>([
    ['a later link was issued', (user) => issue(user)],
    [
      'its user has changed the password',
      async (user) =>
        change(await api.signIn(user), { new_password: 'one by myself', confirm_password: 'one by myself' }),
    ],
    ['an administrator has set a password', (user) => root.put(`/users/${user.id}`, { password: 'set by somebody' })],
    [
      'its user was disabled, even if enabled again',
      async (user) => {
        await root.put(`/users/${user.id}`, { enabled: false });
        return root.put(`/users/${user.id}`, { enabled: true });
      },
    ],
    ['its user was deleted', (user) => root.delete(`/users/${user.id}`)],
    [
      '24 hours have passed',
      (user) => api.rows(`update password_resets set expires_at = now() where user_id = ? returning 1`, [user.id]),
    ],
  ])('is void once %s', async (_what, happen) => {
    const user = await api.addUser('requester');
    const { token } = await issue(user);
    await happen(user);
    const [void_, unknown] = [await redeem(token), await redeem('x'.repeat(43))];
    expect(void_).toMatchObject({ status: 400, body: { error: expect.stringContaining('link is not valid') } });
    expect(void_.text).toBe(unknown.text);
  });

  it.each<[string, object | null]>([
    ['was disabled', { enabled: false }],
    ['manages users no longer', { role: 'operator' }],
    ['was deleted', null],
  ])('is void once the user who issued it %s', async (_what, change) => {
    const [issuer, user] = [await api.addUser('admin'), await api.addUser('admin')];
    const { body } = await issuer.post(`/users/${user.id}/password-reset`);
    const path = `/users/${issuer.id}`;
    const changed = change === null ? await root.delete(path) : await root.put(path, change);
    expect([200, 204], changed.text).toContain(changed.status);
    expect(await redeem(body.token)).toMatchObject({ status: 400 });
  });

  it('works for only one of many concurrent uses', async () => {
    const user = await api.addUser('requester');
    const { token } = await issue(user);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => redeem(token, `good password ${index}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400, 400, 400]);
    await api.signIn(user, `good password ${answers.findIndex(({ status }) => status === 204)}`);
  });

  it('is issued only by callers who manage users, for other users who are enabled', async () => {
    const user = await api.addUser('requester');
    for (const role of ['requester', 'maintainer', 'operator'] as const)
      expect((await (await api.addUser(role)).post(`/users/${user.id}/password-reset`)).status).toBe(403);
    expect((await root.post(`/users/${root.id}/password-reset`)).status).toBe(400);
    expect((await root.post('/users/019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11/password-reset')).status).toBe(403);
    await root.put(`/users/${user.id}`, { enabled: false });
    expect((await root.post(`/users/${user.id}/password-reset`)).status).toBe(409);
  });

  it('cannot be guessed, because an address with too many wrong tokens is refused for a while', async () => {
    const own = await startApi();
    const attempt = () => own.nobody.post('/password-reset', { token: 'x', new_password: wanted });
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess += 1) statuses.push((await attempt()).status);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    await own.close();
  });
});

describe('recovering an administrator from the command line', () => {
  const recover = (email: string, password = wanted) => recoverAdministrator(api.services, { email, password });

  it('sets a new password, ends all sessions, and leaves an audit record', async () => {
    const admin = await api.addUser('admin');
    const session = await api.signIn(admin);
    await recover(admin.email.toUpperCase());
    expect(await whoami(session)).toBe(401);
    await api.signIn(admin, wanted);
    const audit = await api.rows(`select action, actor_type from audit_records where resource_id = ?`, [admin.id]);
    expect(audit).toEqual([{ action: 'user.password_reset', actor_type: 'system' }]);
  });

  it('works only for enabled administrators, with the same rules for passwords', async () => {
    const [admin, operator] = [await api.addUser('admin'), await api.addUser('operator')];
    await expect(recover(operator.email)).rejects.toThrow('an enabled administrator');
    await expect(recover('nobody@example.com')).rejects.toThrow('was not found');
    await expect(recover(admin.email, admin.email)).rejects.toThrow('neither the address nor the name');
    await root.put(`/users/${admin.id}`, { enabled: false });
    await expect(recover(admin.email)).rejects.toThrow('an enabled administrator');
    for (const user of [admin, operator]) await expect(api.signIn(user, wanted)).rejects.toThrow('401');
  });
});

describe('a common password, or one that is the name or address of its owner', () => {
  it.each([
    'password',
    'PASSWORD',
    'Password1',
    'passw0rd',
    'qwerty123',
    'Welcome1',
    'iloveyou',
    'trustno1',
    '12345678',
    '87654321',
    '0987654321',
    'abcdefgh',
    'aaaaaaaa',
    'xyxyxyxy',
    '12341234',
    'delivery-coordinator',
  ])('is recognized as common: %s', (password) => expect(isCommonPassword(password)).toBe(true));

  it.each(['correct horse battery', 'long enough', 'Zauberwort-7391', 'abcdefgi', 'aaaaaaab'])(
    'is not recognized as common: %s',
    (password) => expect(isCommonPassword(password)).toBe(false),
  );

  it('is refused by every operation that sets a password', async () => {
    const user = await api.addUser('requester', 'Ana Kowalczyk');
    const session = await api.signIn(user);
    const { token } = await issue(user);
    const fresh = { email: 'long.address@example.com', name: 'Bogumila Nowak', role: 'requester' };
    for (const [password, own] of [
      ['Trustno1', ['Trustno1', 'Trustno1']],
      ['the address', [fresh.email.toUpperCase(), user.email.toUpperCase()]],
      ['the account', ['Long.Address', user.email.split('@')[0]!]],
      ['the name', ['bogumila nowak', 'anakowalczyk']],
    ] as const) {
      const [another, mine] = own;
      const answers = [
        await root.post('/users', { ...fresh, password: another }),
        await root.put(`/users/${user.id}`, { password: mine }),
        await change(session, { new_password: mine, confirm_password: mine }),
        await redeem(token, mine),
      ];
      expect(
        answers.map(({ status }) => status),
        `${password}: ${answers.map(({ text }) => text).join()}`,
      ).toEqual([400, 400, 400, 400]);
      for (const { body } of answers) expect(body.error).toMatch(/password"?:? must/);
    }
    expect(await root.put(`/users/${user.id}`, { name: 'Completely New', password: 'completely new' })).toMatchObject({
      status: 400,
    });
    expect((await redeem(token)).status).toBe(204);
  });
});

describe('hashing passwords', () => {
  it('runs a few hashes at a time in order, and refuses more if too many wait', async () => {
    const limit = new ConcurrencyLimit({ running: 2, queue: { length: 3, refusal: 'too much' } });
    const order: number[] = [];
    let [running, max] = [0, 0];
    const work = (index: number) =>
      limit.run(async () => {
        max = Math.max(max, ++running);
        await new Promise(setImmediate);
        order.push(index);
        running -= 1;
        if (index === 1) throw new Error('this one fails, and the next one runs all the same');
      });
    const results = await Promise.allSettled(Array.from({ length: 7 }, (_, index) => work(index)));
    expect([max, order]).toEqual([2, [0, 1, 2, 3, 4]]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    await expect(limit.run(async () => 'room again')).resolves.toBe('room again');
  });

  it('answers 503 with Retry-After under overload, and does not slow the event loop or other requests', async () => {
    const own = await startApi();
    const user = await own.addUser('requester');
    const rush = Array.from({ length: 120 }, (_, index) =>
      own.nobody.post('/auth/sessions', { email: `stranger${index}@example.com`, password: 'guess' }),
    );
    expect((await user.get('/auth/whoami')).status).toBe(200);
    const answers = await Promise.all(rush);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({
      headers: { 'retry-after': '1' },
      body: { error: expect.stringContaining('too many') },
    });
    expect(answers.every(({ status }) => [401, 429, 503].includes(status))).toBe(true);
    await own.signIn(user);
    await own.close();
  });

  it('does the same work for an unknown user as for a known one, and never matches', async () => {
    const verify = vi.spyOn(argon2, 'verify');
    const hash = await hashPassword('right and long');
    expect(await verifyPassword(hash, 'wrong and long')).toBe(false);
    expect(await verifyPassword(null, 'wrong and long')).toBe(false);
    const [ofUser, unmatchable] = verify.mock.calls.map(([digest]) => digest.split('$'));
    verify.mockRestore();
    expect(unmatchable?.slice(0, 4)).toEqual(ofUser?.slice(0, 4));
    expect(unmatchable?.map((part) => part.length)).toEqual(ofUser?.map((part) => part.length));
  });

  it('hashes a password again at today’s cost when its user signs in with an older hash', async () => {
    const user = await api.addUser('requester');
    const old = await argon2.hash(testPassword, { memoryCost: 8_192, timeCost: 2, parallelism: 1 });
    expect(isOutdated(old)).toBe(true);
    await api.rows('update users set password_hash = ? where id = ? returning 1', [old, user.id]);
    const sessions = await Promise.all([api.signIn(user), api.signIn(user), api.signIn(user)]);
    const [row] = await api.rows<{ hash: string; generation: number }>(
      'select password_hash as hash, password_generation as generation from users where id = ?',
      [user.id],
    );
    expect([isOutdated(row!.hash), row!.generation]).toEqual([false, 1]);
    for (const session of [...sessions, await api.signIn(user)]) expect(await whoami(session)).toBe(200);
    expect(isOutdated(await hashPassword('whatever it is'))).toBe(false);
  });
});

describe('API keys', () => {
  const next = 'another long password';
  const own = { current_password: testPassword, new_password: next, confirm_password: next };
  /** Sets a new password in each of the ways that there are. */
  const ways: Record<string, (user: ApiUser, admin: ApiUser, choice: object) => Promise<ApiAnswer>> = {
    'by its owner': async (user, _admin, choice) =>
      (await api.signIn(user)).post('/profile/password', { ...own, ...choice }),
    'by a reset link': async (user, admin, choice) => {
      const { body } = await admin.post(`/users/${user.id}/password-reset`);
      return api.nobody.post('/password-reset', { token: body.token, new_password: next, ...choice });
    },
    'by an administrator': (user, admin, choice) => admin.put(`/users/${user.id}`, { password: next, ...choice }),
  };

  it.each(Object.keys(ways))(
    'stay valid when the password is changed %s, unless they are to be revoked',
    async (way) => {
      const [user, admin] = [await api.addUser('requester'), await api.addUser('admin')];
      const another = await user.post('/profile/api-keys', { name: 'another' });
      expect((await ways[way]!(user, admin, {})).status).toBeLessThan(300);
      expect((await user.get('/auth/whoami')).status).toBe(200);
      await api.rows(`update users set password_hash = (select password_hash from users where id = ?) where id = ?`, [
        admin.id,
        user.id,
      ]);
      const { status, headers } = await ways[way]!(user, admin, { revoke_api_keys: true });
      expect(status).toBeLessThan(300);
      for (const key of [user.credential['x-api-key'], another.body.key])
        expect((await api.nobody.get('/auth/whoami', { 'x-api-key': key })).status).toBe(401);
      const { body } = await admin.get(`/audit?request_id=${headers['x-request-id']}`);
      expect(body.audit_records[0].after).toMatchObject({ revoked_api_keys: 2 });
      expect((await admin.get('/auth/whoami')).status).toBe(200);
    },
  );

  it('are not revoked by an administrator who changes a user without a password', async () => {
    const [user, admin] = [await api.addUser('requester'), await api.addUser('admin')];
    expect((await admin.put(`/users/${user.id}`, { revoke_api_keys: true })).status).toBe(400);
    expect((await user.get('/auth/whoami')).status).toBe(200);
  });
});
