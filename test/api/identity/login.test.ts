import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let ana: ApiUser;

beforeAll(async () => {
  api = await startApi();
  ana = await api.addUser('maintainer', 'Ana');
});
afterAll(() => api?.close());

const visit = (headers?: Record<string, string>) => new Visitor(api.app, headers);

async function signIn(): Promise<Visitor> {
  const visitor = visit();
  const answer = await visitor.submit('/login', { email: ana.email, password: testPassword });
  expect(answer.status, answer.text).toBe(303);
  return visitor;
}

describe('signing in on the page', () => {
  it('gives the browser its session and redirects it', async () => {
    const visitor = visit();
    const answer = await visitor.submit('/login', { email: `  ${ana.email.toUpperCase()} `, password: testPassword });
    expect([answer.status, answer.location, answer.text]).toEqual([303, '/', '']);
    expect(answer.setCookie).toMatch(
      /^coordinator_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect((await visitor.get('/')).text).toContain('<h1>Home</h1>');
    const whoami = await api.app.inject({ url: '/api/v1/auth/whoami', headers: { cookie: visitor.cookie! } });
    expect(whoami.json()).toMatchObject({ id: ana.id, credential: { type: 'session' } });
  });

  it('creates one session and one audit record of the user, as the API does', async () => {
    const bea = await api.addUser('requester', 'Bea');
    await visit({ 'user-agent': 'A browser' }).submit('/login', { email: bea.email, password: testPassword });
    await api.app.inject({
      method: 'POST',
      url: '/api/v1/auth/sessions',
      headers: { 'user-agent': 'A script' },
      payload: { email: bea.email, password: testPassword },
    });
    const sessions = await api.rows(
      'select user_agent, address, revoked_at from sessions where user_id = ? order by id',
      [bea.id],
    );
    expect(sessions).toEqual([
      { user_agent: 'A browser', address: '127.0.0.1', revoked_at: null },
      { user_agent: 'A script', address: '127.0.0.1', revoked_at: null },
    ]);
    const [page, call] = await api.rows<Record<string, unknown>>(
      `select action, resource_type, outcome, actor_id, actor_type, address, before, after from audit_records
        where actor_id = ? order by id`,
      [bea.id],
    );
    expect(page).toEqual(call);
    expect(page).toMatchObject({ action: 'session.opened', resource_type: 'sessions', outcome: 'committed' });
  });

  it('replaces the session of a visitor who is already signed in', async () => {
    const visitor = await signIn();
    const cid = await api.addUser('requester', 'Cid');
    await visitor.submit('/login', { email: cid.email, password: testPassword });
    expect((await visitor.get('/login')).text).toContain(cid.email);
  });

  it('redirects only to paths of this service', async () => {
    const next = async (path: string) =>
      (await visit().submit('/login', { email: ana.email, password: testPassword, next: path })).location;
    expect(await next('/api/docs?x=1#tag/runs')).toBe('/api/docs?x=1#tag/runs');
    const foreign = [
      '//evil.example/',
      '/\\evil.example/',
      '\\\\evil.example',
      'https://evil.example/',
      'javascript:alert(1)',
      '/\t/evil.example',
      '/.//evil.example',
      '/..//evil.example',
      '/a/..//evil.example',
      '/%2e//evil.example',
      'evil.example',
      ' //evil.example',
      '',
      `/${'x'.repeat(3000)}`,
      '/a\r\nSet-Cookie: x=1',
    ];
    for (const path of foreign) expect(await next(path), path).toBe('/');
  });

  it('keeps the redirect path after a failed attempt, and discards one to another site', async () => {
    const shown = (await visit().get('/login?next=%2Fapi%2Fdocs%3Fa%3D%22b')).text;
    expect(shown).toContain('name="next" value="/api/docs?a=%22b"');
    const failed = await visit().submit('/login', { email: ana.email, password: 'wrong one', next: '/api/docs' });
    expect(failed.text).toContain('name="next" value="/api/docs"');
    for (const query of ['next=//evil.example', 'next=/a&next=/b', 'next[]=/a', ''])
      expect(await visit().page(`/login?${query}`)).not.toMatch(/name="next"|evil/);
  });
});

describe('a failed attempt', () => {
  it('a failed attempt to sign in with a wrong password keeps the address but not the password, and announces the error', async () => {
    const answer = await visit().submit('/login', { email: ana.email, password: 'hunter2-hunter2' });
    expect([answer.status, answer.setCookie, answer.headers['cache-control']]).toEqual([401, undefined, 'no-store']);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.text).toMatch(/role="alert"[\s\S]*The e-mail address or the password is wrong\./);
    expect(answer.text).toContain(`value="${ana.email}"`);
    expect(answer.text).not.toContain('hunter2');
    expect(answer.text).toContain('<title>Error: Sign in');
    expect(answer.text).toMatch(/id="password"[^>]*aria-describedby="problem"[^>]*autofocus/);
  });

  it('looks the same for a known and an unknown address', async () => {
    const known = await visit().submit('/login', { email: ana.email, password: 'wrong' });
    const unknown = await visit().submit('/login', { email: `x${ana.email}`, password: 'wrong' });
    expect(unknown.text.replace(`x${ana.email}`, ana.email)).toBe(known.text);
    expect(unknown.status).toBe(401);
  });

  it('names each empty field', async () => {
    const answer = await visit().submit('/login', '');
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(
      /id="email"[^>]*aria-invalid="true"[^>]*aria-describedby="email-problem"[^>]*autofocus/,
    );
    expect(answer.text).toMatch(/id="email-problem">.*Enter your e-mail address/);
    expect(answer.text).toMatch(/id="password-problem">.*Enter your password/);
    const again = await visit().submit('/login', { email: ana.email });
    expect(again.text).not.toContain('email-problem');
    expect(again.text).toMatch(/id="password"[^>]*aria-invalid="true"[^>]*autofocus/);
  });

  it('names a field that the operation refuses', async () => {
    const email = await visit().submit('/login', { email: 'ana', password: 'x' });
    expect([email.status, email.text.match(/id="email-problem">.*?<\/p>/)?.[0]]).toEqual([
      400,
      expect.stringContaining('Enter an e-mail address such as ana@example.com'),
    ]);
    const long = await visit().submit('/login', { email: ana.email, password: 'x'.repeat(1025) });
    expect([long.status, long.text.includes('A password has at most 1024 characters')]).toEqual([400, true]);
  });

  it('shows typed markup as text', async () => {
    const email = `"><script>alert(1)</script>'&`;
    const answer = await visit().submit('/login', { email, password: 'x' });
    expect(answer.text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;"');
    expect(answer.text).not.toMatch(/<script(?! src="\/assets\/)/);
  });

  it('counts together with failures by the API, and is refused for a time that the page names', async () => {
    const dot = await api.addUser('requester', 'Dot');
    const attempt = { email: dot.email, password: 'wrong' };
    for (let each = 0; each < 5; each++) {
      expect((await visit().submit('/login', attempt)).status).toBe(401);
      expect((await api.nobody.post('/auth/sessions', attempt)).status).toBe(401);
    }
    const refused = await visit().submit('/login', { email: dot.email, password: testPassword });
    expect([refused.status, refused.setCookie]).toEqual([429, undefined]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(200);
    expect(refused.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(refused.text).toMatch(/role="alert"[\s\S]*Try again in 5 minutes\./);
    expect((await api.nobody.post('/auth/sessions', { ...attempt, password: testPassword })).status).toBe(429);
  });

  it('a failed attempt of a disabled user to sign in looks like any other', async () => {
    const eli = await api.addUser('requester', 'Eli');
    await api.rows('update principals set enabled = false where id = ?', [eli.id]);
    const answer = await visit().submit('/login', { email: eli.email, password: testPassword });
    expect([answer.status, answer.text.includes('is wrong')]).toEqual([401, true]);
  });
});

describe('a form from another origin', () => {
  const fields = () => ({ email: ana.email, password: testPassword });
  const own = { 'sec-fetch-site': '', host: 'localhost:8080' };

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of this site', { 'sec-fetch-site': 'same-site' }],
    ['no page', { 'sec-fetch-site': 'none' }],
    ['another origin, in a browser that sends only Origin', { ...own, origin: 'http://evil.example' }],
    ['the same host without its port', { ...own, origin: 'http://localhost' }],
    ['the same host by another scheme', { ...own, origin: 'https://localhost:8080' }],
    ['a page without an origin', { ...own, origin: 'null' }],
    ['a client that sends neither header', own],
  ])('does not sign in: %s', async (_from, headers) => {
    const answer = await visit().submit('/login', fields(), headers);
    expect([answer.status, answer.setCookie]).toEqual([403, undefined]);
    expect(answer.text).toContain('This form was not sent by a page of this service');
  });

  it('signs in if the browser sends only Origin, with the origin of this service', async () => {
    const answer = await visit().submit('/login', fields(), { ...own, origin: 'http://localhost:8080' });
    expect(answer.status).toBe(303);
  });

  it('does not sign out', async () => {
    const visitor = await signIn();
    expect((await visitor.submit('/logout', '', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await visitor.get('/')).text).toContain('<h1>Home</h1>');
  });
});
