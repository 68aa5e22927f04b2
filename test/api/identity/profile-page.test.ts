import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { type PageAnswer, Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let root: ApiUser;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_GUESSES_PER_ACCOUNT: '0' });
  root = await api.addUser('admin', 'Root');
});
afterAll(() => api?.close());

const wanted = 'another good one';
const passwords = (more: Record<string, string> = {}) => ({
  current_password: testPassword,
  new_password: wanted,
  confirm_password: wanted,
  ...more,
});

async function visit(name = 'Ana Kowalczyk'): Promise<{ user: ApiUser; visitor: Visitor }> {
  const user = await api.addUser('maintainer', name);
  return { user, visitor: await signInVisitor(api, user) };
}

/** The problem shown at a field. */
function problemOf({ text }: PageAnswer, field: string): string | undefined {
  const problem = new RegExp(`id="${field}-problem">(?:<svg.*?</svg>)?([^<]+)<`).exec(text)?.[1];
  expect(text.includes(`aria-describedby="${field}-problem"`)).toBe(problem !== undefined);
  return problem;
}

describe('the profile page', () => {
  it('shows the user, their sessions and their keys, and nothing of other users', async () => {
    const { user, visitor } = await visit('Ana <b>Kowalczyk</b>');
    await api.signIn(user);
    const other = await api.addUser('requester', 'Somebody Else');
    const otherSession = await api.signIn(other);
    const { status, text } = await visitor.get('/profile');
    expect(status).toBe(200);
    expect(text).toContain(user.email);
    expect(text).toContain('Ana &lt;b&gt;Kowalczyk&lt;/b&gt;');
    expect(text.match(/This session/g)).toHaveLength(1);
    expect(text.match(/\/profile\/sessions\/[\w-]+\/revoke/g)).toHaveLength(1);
    expect(text.match(/\/profile\/api-keys\/[\w-]+\/revoke/g)).toHaveLength(1);
    const [foreign] = (await otherSession.get('/auth/sessions')).body.sessions;
    expect(text).not.toContain(foreign.id);
    expect(text).not.toMatch(/argon2|<script(?! src="\/assets\/)|\sstyle=/);
  });

  it('redirects visitors who are not signed in to the sign-in page and back, even with an API key', async () => {
    const answer = await new Visitor(api.app).get('/profile');
    expect([answer.status, answer.location]).toEqual([303, '/login?next=%2Fprofile']);
    const posted = await new Visitor(api.app).submit('/profile/password', passwords());
    expect([posted.status, posted.setCookie]).toEqual([401, undefined]);
  });

  it('says if there are more items than it shows', async () => {
    const { user, visitor } = await visit();
    const older = 'Older keys are listed by the API.';
    expect(await visitor.page('/profile')).not.toContain(older);
    await api.rows(
      `insert into sessions (id, user_id, created_at, expires_at)
       select gen_random_uuid(), ?, now(), now() + interval '1 hour' from generate_series(1, 50) returning 1`,
      [user.id],
    );
    const { text } = await visitor.get('/profile');
    expect(text.split(older)).toHaveLength(2);
  });

  it('shows only known messages after a form', async () => {
    const { visitor } = await visit();
    expect((await visitor.get('/profile?done=password')).text).toMatch(/role="status">Password changed\./);
    for (const done of ['constructor', '<b>', 'x', ''])
      expect(await visitor.page(`/profile?done=${encodeURIComponent(done)}`)).not.toContain('role="status"');
  });

  it('changes name and address, and shows problems beside the typed values', async () => {
    const { user, visitor } = await visit();
    const email = `new-${user.email}`;
    const saved = await visitor.submit('/profile', { name: ' New Name ', email: ` ${email} ` });
    expect([saved.status, saved.location]).toEqual([303, '/profile?done=details']);
    expect((await user.get(`/users/${user.id}`)).body).toMatchObject({ name: 'New Name', email });
    const taken = await visitor.submit('/profile', { name: 'Kept', email: root.email });
    expect([taken.status, problemOf(taken, 'email')]).toEqual([409, 'Another user has this address.']);
    expect(taken.text).toContain('value="Kept"');
    const wrong = await visitor.submit('/profile', { name: ' ', email: 'nowhere' });
    expect([wrong.status, problemOf(wrong, 'name')]).toEqual([400, 'Enter the name.']);
    expect(problemOf(wrong, 'email')).toMatch(/^Enter an e-mail address/);
    expect((await visitor.submit('/profile', { name: 'x', email, role: 'admin' })).status).toBe(400);
  });
});

describe('changing the password with the profile form', () => {
  it('gives this browser a new session and ends all others', async () => {
    const { user, visitor } = await visit();
    const [elsewhere, before] = [await api.signIn(user), visitor.cookie];
    const answer = await visitor.submit('/profile/password', passwords());
    expect([answer.status, answer.location]).toEqual([303, '/profile?done=password']);
    expect(answer.setCookie).toMatch(/^coordinator_session=[\w.-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(visitor.cookie).not.toBe(before);
    expect((await visitor.get('/profile')).text.match(/\/profile\/sessions\//g)).toBeNull();
    expect((await elsewhere.get('/auth/whoami')).status).toBe(401);
    const old = new Visitor(api.app);
    old.cookie = before;
    expect((await old.get('/profile')).status).toBe(303);
    await api.signIn(user, wanted);
  });

  it.each([
    ['a wrong current password', { current_password: 'not mine at all' }, 'current_password', /not your password/],
    ['an empty current password', { current_password: '' }, 'current_password', /not your password/],
    ['a short new password', { new_password: 'sh0rt', confirm_password: 'sh0rt' }, 'new_password', /at least 8/],
    [
      'a new password of spaces',
      { new_password: ' '.repeat(9), confirm_password: ' '.repeat(9) },
      'new_password',
      /other than spaces/,
    ],
    [
      'a common new password',
      { new_password: 'Password1', confirm_password: 'Password1' },
      'new_password',
      /most common/,
    ],
    [
      'two different new passwords',
      { confirm_password: 'another good two' },
      'confirm_password',
      /same as the new password/,
    ],
  ])('is refused with %s, with the problem at its field and no password shown', async (_what, more, field, problem) => {
    const { user, visitor } = await visit();
    const cookie = visitor.cookie;
    const answer = await visitor.submit('/profile/password', passwords(more));
    expect([answer.status, answer.setCookie]).toEqual([400, undefined]);
    expect(problemOf(answer, field)).toMatch(problem);
    expect(answer.text).toMatch(/<title>Error: /);
    for (const secret of [testPassword, wanted, ...Object.values(more).filter((text) => text.trim() !== '')])
      expect(answer.text).not.toContain(secret);
    expect(visitor.cookie).toBe(cookie);
    await api.signIn(user);
  });

  it('is refused if the browser says that another site sent the form', async () => {
    const { visitor } = await visit();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '', origin: 'http://evil.example' },
      { 'sec-fetch-site': '', origin: 'null' },
      { 'sec-fetch-site': '' },
    ] as Record<string, string>[])
      expect((await visitor.submit('/profile/password', passwords(), headers)).status).toBe(403);
    expect((await visitor.submit('/profile/password', passwords())).status).toBe(303);
  });

  it('names a time to wait after too many guesses', async () => {
    const own = await startApi();
    const user = await own.addUser('requester');
    const visitor = await signInVisitor(own, user);
    let answer: PageAnswer | undefined;
    for (let guess = 0; guess < 11; guess += 1)
      answer = await visitor.submit('/profile/password', passwords({ current_password: `guess ${guess}` }));
    expect(answer!.status).toBe(429);
    expect(problemOf(answer!, 'current_password')).toMatch(
      /^Too many attempts have failed\. Try again in \d+ minutes\.$/,
    );
    expect(Number(answer!.headers['retry-after'])).toBeGreaterThan(0);
    await own.close();
  });
});

describe('ending a listed session or key', () => {
  it('ends it and shows the others, even if it has already ended', async () => {
    const { user, visitor } = await visit();
    const other = await api.signIn(user);
    const { text } = await visitor.get('/profile');
    const [session] = /\/profile\/sessions\/[\w-]+\/revoke/.exec(text) ?? [];
    const [key] = /\/profile\/api-keys\/[\w-]+\/revoke/.exec(text) ?? [];
    for (const _ of [1, 2]) expect((await visitor.submit(session!, '')).location).toBe('/profile?done=session');
    expect((await other.get('/auth/whoami')).status).toBe(401);
    expect((await visitor.submit(key!, '')).location).toBe('/profile?done=api-key');
    expect((await user.get('/auth/whoami')).status).toBe(401);
    expect((await visitor.get('/profile')).text).toContain('No API keys');
  });

  it('signs out if it is the current session, and never ends another user’s', async () => {
    const { user, visitor } = await visit();
    const { visitor: other } = await visit();
    const { body } = await (await api.signIn(user)).get('/auth/sessions');
    const mine = body.sessions[1].id;
    await other.submit(`/profile/sessions/${mine}/revoke`, '');
    expect((await visitor.get('/profile')).status).toBe(200);
    const answer = await visitor.submit(`/profile/sessions/${mine}/revoke`, '');
    expect([answer.location, visitor.cookie]).toEqual(['/login?signed_out=yes', undefined]);
    expect((await other.submit('/profile/sessions/not-an-id/revoke', '')).status).toBe(404);
  });
});

describe('the page of a password reset link', () => {
  const issue = async (user: ApiUser) => (await root.post(`/users/${user.id}/password-reset`)).body.token as string;

  it('sets the password once and redirects to the sign-in page', async () => {
    const user = await api.addUser('requester', 'Ben');
    const [token, visitor] = [await issue(user), new Visitor(api.app)];
    expect((await visitor.get('/password-reset')).text).toContain('link-token');
    const shown = await visitor.submit('/password-reset', { step: 'link', token });
    expect(shown.status).toBe(200);
    expect(shown.text).toContain(user.email);
    expect([shown.headers['cache-control'], shown.headers['referrer-policy']]).toEqual(['no-store', 'same-origin']);
    const fields = { token, new_password: wanted, confirm_password: wanted };
    const answer = await visitor.submit('/password-reset', fields);
    expect([answer.status, answer.location]).toEqual([303, '/login?password_reset=yes']);
    expect((await visitor.get('/login?password_reset=yes')).text).toContain('Your new password is set.');
    await api.signIn(user, wanted);
    for (const again of [
      await visitor.submit('/password-reset', { step: 'link', token }),
      await visitor.submit('/password-reset', fields),
      await visitor.submit('/password-reset', { step: 'link', token: '' }),
    ])
      expect([again.status, again.text.includes('This link is no longer valid')]).toEqual([404, true]);
  });

  it('shows problems at their fields, and the link stays valid', async () => {
    const token = await issue(await api.addUser('requester', 'Eva'));
    const submit = (new_password: string, confirm_password = new_password) =>
      new Visitor(api.app).submit('/password-reset', { token, new_password, confirm_password });
    const short = await submit('short');
    expect([short.status, problemOf(short, 'new_password')]).toEqual([400, 'Must have at least 8 characters.']);
    const different = await submit(wanted, 'something else');
    expect([different.status, problemOf(different, 'confirm_password')]).toEqual([
      400,
      'Must be the same as the new password.',
    ]);
    expect((await submit(wanted)).status).toBe(303);
  });

  it('rejects a form that another origin submits', async () => {
    const token = await issue(await api.addUser('requester'));
    const fields = { token, new_password: wanted, confirm_password: wanted };
    const answer = await new Visitor(api.app).submit('/password-reset', fields, { 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(403);
  });
});
