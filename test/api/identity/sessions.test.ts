import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeOldSessions } from '#domain/identity/sessions/cleaning.ts';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let root: ApiUser;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
});
afterAll(() => api?.close());

const statusOf = async (user: ApiUser) => (await user.get('/auth/whoami')).status;

/** A user with two sessions and a key. */
async function addUserWithSessions() {
  const user = await api.addUser('requester');
  const [one, two] = await Promise.all([api.signIn(user), api.signIn(user)]);
  return { user, one, two };
}

/** The state table of sessions (specification, *Browser session*): an event, and which credentials are valid after it. */
const transitions: readonly [
  what: string,
  happen: (people: Awaited<ReturnType<typeof addUserWithSessions>>) => Promise<unknown>,
  after: { one: number; two: number; key: number },
][] = [
  ['a sign-in', ({ user }) => api.signIn(user), { one: 200, two: 200, key: 200 }],
  ['24 hours', ({ user }) => age(user, '0 seconds'), { one: 401, two: 401, key: 200 }],
  ['one second less than 24 hours', ({ user }) => age(user, '1 second'), { one: 200, two: 200, key: 200 }],
  ['a sign-out', ({ one }) => one.delete('/auth/sessions/current'), { one: 401, two: 200, key: 200 }],
  [
    'a change of the own password',
    ({ one }) =>
      one.post('/profile/password', {
        current_password: testPassword,
        new_password: 'another good one',
        confirm_password: 'another good one',
      }),
    { one: 401, two: 401, key: 200 },
  ],
  [
    'a password reset by a link',
    async ({ user }) => {
      const { body } = await root.post(`/users/${user.id}/password-reset`);
      return api.nobody.post('/password-reset', { token: body.token, new_password: 'another good one' });
    },
    { one: 401, two: 401, key: 200 },
  ],
  [
    'issuing a password reset link',
    ({ user }) => root.post(`/users/${user.id}/password-reset`),
    { one: 200, two: 200, key: 200 },
  ],
  [
    'an administrator setting a password',
    ({ user }) => root.put(`/users/${user.id}`, { password: 'another good one' }),
    { one: 401, two: 401, key: 200 },
  ],
  ['disabling', ({ user }) => root.put(`/users/${user.id}`, { enabled: false }), { one: 401, two: 401, key: 401 }],
  [
    'disabling and enabling again',
    async ({ user }) => {
      await root.put(`/users/${user.id}`, { enabled: false });
      await root.put(`/users/${user.id}`, { enabled: true });
    },
    { one: 401, two: 401, key: 200 },
  ],
  ['deletion', ({ user }) => root.delete(`/users/${user.id}`), { one: 401, two: 401, key: 401 }],
  [
    'a new name and address',
    ({ user, one }) => one.put(`/users/${user.id}`, { name: 'New', email: `new-${user.email}` }),
    { one: 200, two: 200, key: 200 },
  ],
];

function age(user: ApiUser, left: string) {
  return api.rows(`update sessions set expires_at = now() + ?::interval where user_id = ? returning 1`, [
    left,
    user.id,
  ]);
}

describe('the sessions and the API key of a user after', () => {
  it.each(transitions)('%s', async (_what, happen, after) => {
    const people = await addUserWithSessions();
    await happen(people);
    const [one, two, key] = await Promise.all([people.one, people.two, people.user].map(statusOf));
    expect({ one, two, key }).toEqual(after);
  });
});

describe('a session', () => {
  it('is not opened for a disabled user, a wrong password or an unknown address', async () => {
    const user = await api.addUser('requester');
    await root.put(`/users/${user.id}`, { enabled: false });
    const attempts = [
      { email: user.email, password: testPassword },
      { email: root.email, password: 'not the password' },
      { email: 'nobody@example.com', password: testPassword },
    ];
    const answers = await Promise.all(attempts.map((body) => api.nobody.post('/auth/sessions', body)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401 });
    expect(answers.every(({ headers }) => headers['set-cookie'] === undefined)).toBe(true);
    expect(await api.rows('select 1 from sessions where user_id = ?', [user.id])).toEqual([]);
  });

  it('shows its address and browser to its user, and to nobody else', async () => {
    const user = await api.addUser('requester');
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0' };
    await signInVisitor(api, user, browser);
    const { body } = await (await api.signIn(user)).get('/auth/sessions');
    expect(body.sessions).toHaveLength(2);
    expect(body.sessions[1]).toMatchObject({
      current: false,
      address: '127.0.0.1',
      user_agent: expect.stringContaining('Firefox/140.0'),
    });
    const others = (await (await api.signIn(root)).get('/auth/sessions')).body.sessions;
    expect(JSON.stringify(others)).not.toContain(body.sessions[1].id);
  });

  it('a session by cookie is refused to pages of another site', async () => {
    const user = await api.addUser('requester');
    const { body } = await api.nobody.post('/auth/sessions', { email: user.email, password: testPassword });
    const ask = (method: 'GET' | 'DELETE', headers: Record<string, string>) =>
      api.nobody.send(method, '/auth/sessions/current', undefined, {
        cookie: `coordinator_session=${body.token}`,
        ...headers,
      });
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[])
      expect((await ask('DELETE', headers)).status, JSON.stringify(headers)).toBe(403);
    expect((await ask('GET', { 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    expect((await ask('DELETE', { 'sec-fetch-site': 'same-origin' })).status).toBe(204);
  });
});

describe('ended sessions', () => {
  it('are removed a week after they ended, unlike active and recently ended ones', async () => {
    const { user, one } = await addUserWithSessions();
    const opened = (await one.get('/auth/sessions')).body.sessions.map(({ id }: { id: string }) => id);
    const add = (expires: string, revoked: string | null) =>
      api.rows(
        `insert into sessions (id, user_id, created_at, expires_at, revoked_at)
         values (gen_random_uuid(), ?, now() - interval '9 days', now() + ?::interval, now() + ?::interval) returning 1`,
        [user.id, expires, revoked],
      );
    await add('-8 days', null);
    await add('-8 days', '-8 days');
    await add('-6 days', null);
    await add('-6 days', '-7 days');
    const unused = await api.addUser('requester');
    await root.post(`/users/${unused.id}/password-reset`);
    await api.rows(`update password_resets set expires_at = now() - interval '8 days' where user_id = ? returning 1`, [
      unused.id,
    ]);
    expect(await removeOldSessions(api.services.orm.em.fork())).toBe(2);
    const left = await api.rows<{ id: string }>('select id from sessions where user_id = ?', [user.id]);
    expect(left).toHaveLength(4);
    expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining(opened));
    expect(await api.rows('select 1 from password_resets where user_id = ?', [unused.id])).toEqual([]);
    expect(await statusOf(one)).toBe(200);
  });
});
