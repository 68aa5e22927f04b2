import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let root: ApiUser;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';
let made = 0;
const newUser = (more = {}) => ({
  email: `Some.Body${++made}@Example.com`,
  name: 'Some Body',
  password: 'long enough',
  role: 'requester',
  ...more,
});

describe('creating a user', () => {
  test('returns everything but the password, with which the user can sign in', async () => {
    const body = newUser();
    const answer = await root.post('/users', body);
    expect(answer).toMatchObject({
      status: 201,
      headers: { location: `/api/v1/users/${answer.body.id}` },
      body: { email: body.email, name: 'Some Body', role: 'requester', enabled: true, revision: 1 },
    });
    expect(answer.text).not.toMatch(/"password"|argon2/);
    const user = await api.signIn({ id: answer.body.id, email: body.email.toLowerCase() }, body.password);
    expect((await user.get('/auth/whoami')).body.id).toBe(answer.body.id);
    const audit = await api.rows(`select after from audit_records where resource_id = ?`, [answer.body.id]);
    expect(JSON.stringify(audit)).not.toContain(body.password);
  });

  test.each(['requester', 'maintainer', 'operator'] as const)('is refused to a %s, and so is listing', async (role) => {
    const user = await api.addUser(role);
    expect((await user.post('/users', newUser())).status).toBe(403);
    expect((await user.get('/users')).status).toBe(403);
  });

  test.each([
    [{ password: 'seven77' }, 'password'],
    [{ password: '         ' }, 'password'],
    [{ email: 'nobody' }, 'email'],
    [{ role: 'owner' }, 'role'],
    [{ password_hash: 'x' }, 'password_hash'],
    [{ name: ' ' }, 'name'],
  ])('answers 400 with %j', async (more, field) => {
    const answer = await root.post('/users', newUser(more));
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } });
  });

  test('succeeds only once for an address in any spelling', async () => {
    const body = newUser();
    const twice = await Promise.all([
      root.post('/users', body),
      root.post('/users', { ...body, email: body.email.toUpperCase() }),
    ]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(twice.find(({ status }) => status === 409)?.body.error).toContain('email');
  });
});

describe('a named user', () => {
  test('can be read by itself and by callers who manage users, and others get the same 403 as for a missing user', async () => {
    const [ana, ben] = await Promise.all([api.addUser('operator'), api.addUser('requester')]);
    expect((await ana.get(`/users/${ana.id}`)).body).toMatchObject({ id: ana.id, email: ana.email, enabled: true });
    expect((await root.get(`/users/${ana.id}`)).status).toBe(200);
    const [other, absent, absentToRoot] = await Promise.all([
      ana.get(`/users/${ben.id}`),
      ana.get(`/users/${missing}`),
      root.get(`/users/${missing}`),
    ]);
    expect([other.status, absent.status, absentToRoot.status]).toEqual([403, 403, 403]);
    expect(other.body).toEqual(absent.body);
    const [change, changeAbsent] = await Promise.all([
      ana.put(`/users/${ben.id}`, { name: 'Owned', password: 'owned owned' }),
      ana.put(`/users/${missing}`, { name: 'Owned', password: 'owned owned' }),
    ]);
    expect(change).toMatchObject({ status: 403, body: changeAbsent.body });
  });

  test('is found in the list by its address', async () => {
    const user = await api.addUser('requester');
    const found = await root.get(`/users?email=${encodeURIComponent(user.email.toUpperCase())}`);
    expect(found.body.users).toMatchObject([{ id: user.id }]);
    const { body } = await root.get('/users?limit=1');
    expect(body).toMatchObject({ users: [{ id: user.id }], next_cursor: expect.any(String) });
  });
});

describe('changing one’s own user', () => {
  test('changes address and name', async () => {
    const user = await api.addUser('requester');
    const email = `new-${user.email}`;
    const answer = await user.put(`/users/${user.id}`, { email, name: 'New Name', expected_revision: 1 });
    expect(answer).toMatchObject({ status: 200, body: { email, name: 'New Name', role: 'requester', revision: 2 } });
    await api.signIn({ id: user.id, email });
  });

  test.each([
    [{ role: 'admin' }, 403],
    [{ enabled: false }, 403],
    [{ password: 'long enough' }, 400],
    [{ name: 'x', role: 'operator' }, 403],
  ])('changing one’s own user with %j answers %i, to administrators too', async (body, status) => {
    for (const role of ['requester', 'admin'] as const) {
      const user = await api.addUser(role);
      const wanted = 'role' in body && role === 'admin' ? { ...body, role: 'requester' } : body;
      expect((await user.put(`/users/${user.id}`, wanted)).status).toBe(status);
      expect((await user.get(`/users/${user.id}`)).body).toMatchObject({ role, enabled: true, revision: 1 });
    }
  });

  test('accepts an unchanged role and state', async () => {
    const user = await api.addUser('requester');
    const { role, enabled, email, name } = (await user.get(`/users/${user.id}`)).body;
    const answer = await user.put(`/users/${user.id}`, { role, enabled, email, name });
    expect(answer).toMatchObject({ status: 200, body: { revision: 1 } });
  });

  test('answers 409 for the address of another user', async () => {
    const [user, other] = await Promise.all([api.addUser('requester'), api.addUser('requester')]);
    const answer = await user.put(`/users/${user.id}`, { email: other.email.toUpperCase() });
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('email') } });
  });
});

describe('administering a user', () => {
  test('disabling a user rejects each credential from the next request on, and enabling restores no session', async () => {
    const user = await api.addUser('maintainer');
    const session = await api.signIn(user);
    expect((await root.put(`/users/${user.id}`, { enabled: false })).body).toMatchObject({ enabled: false });
    expect((await user.get('/auth/whoami')).status).toBe(401);
    expect((await session.get('/auth/whoami')).status).toBe(401);
    await expect(api.signIn(user)).rejects.toThrow('401');
    const [row] = await api.rows<{ generation: number }>(
      'select eligibility_generation as generation from principals where id = ?',
      [user.id],
    );
    expect(row?.generation).toBe(2);
    expect((await root.put(`/users/${user.id}`, { enabled: true })).body).toMatchObject({ enabled: true });
    expect((await user.get('/auth/whoami')).status).toBe(200);
  });

  test('a new password ends all sessions of a user but no API keys', async () => {
    const user = await api.addUser('maintainer');
    const sessions = await Promise.all([api.signIn(user), api.signIn(user)]);
    expect((await root.put(`/users/${user.id}`, { password: 'brand new one' })).status).toBe(200);
    for (const session of sessions) expect((await session.get('/auth/whoami')).status).toBe(401);
    expect((await user.get('/auth/whoami')).status).toBe(200);
    await expect(api.signIn(user)).rejects.toThrow('401');
    await api.signIn(user, 'brand new one');
    expect((await root.put(`/users/${user.id}`, { password: 'seven77' })).status).toBe(400);
    const audit = await api.rows(`select after from audit_records where resource_id = ?`, [user.id]);
    expect(JSON.stringify(audit)).toContain('"password":"changed"');
    expect(JSON.stringify(audit)).not.toContain('brand new');
  });

  test('a lower role of a user takes effect from the next request on', async () => {
    const user = await api.addUser('maintainer');
    expect((await root.put(`/users/${user.id}`, { role: 'requester', expected_revision: 1 })).status).toBe(200);
    expect((await user.post('/organizations', { name: 'Late' })).status).toBe(403);
    expect((await root.put(`/users/${user.id}`, { role: 'operator', expected_revision: 1 })).status).toBe(409);
  });

  test('two administrators who demote each other at the same time leave one administrator', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [a, b] = await Promise.all([api.addUser('admin'), api.addUser('admin')]);
      const answers = await Promise.all([
        a.put(`/users/${b.id}`, { enabled: false }),
        b.put(`/users/${a.id}`, { role: 'requester' }),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const left = answers[0].status === 200 ? b : a;
      await root.put(`/users/${left.id}`, { role: 'requester' });
    }
  });
});
