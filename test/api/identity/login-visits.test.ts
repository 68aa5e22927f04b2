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

describe('signing out', () => {
  it('ends the session, clears the cookie, and says so', async () => {
    const visitor = await signIn();
    const cookie = visitor.cookie!;
    const answer = await visitor.submit('/logout', '');
    expect([answer.status, answer.location]).toEqual([303, '/login?signed_out=yes']);
    expect(answer.setCookie).toMatch(/^coordinator_session=; Max-Age=0; Path=\//);
    expect(visitor.cookie).toBeUndefined();
    expect((await visitor.get('/login?signed_out=yes')).text).toMatch(/role="status">You are signed out\./);
    const again = await api.app.inject({ url: '/api/v1/auth/whoami', headers: { cookie } });
    expect(again.statusCode).toBe(401);
    const [row] = await api.rows<{ action: string }>(
      `select action from audit_records where actor_id = ? order by id desc limit 1`,
      [ana.id],
    );
    expect(row?.action).toBe('session.revoked');
  });

  it('succeeds if nobody is signed in, the session has ended, or two windows sign out at the same time', async () => {
    const stranger = await visit().submit('/logout', '');
    expect([stranger.status, stranger.setCookie?.startsWith('coordinator_session=;')]).toEqual([303, true]);
    const visitor = await signIn();
    const { cookie } = visitor;
    const both = await Promise.all([visitor.submit('/logout', ''), visitor.submit('/logout', '')]);
    expect(both.map(({ status }) => status)).toEqual([303, 303]);
    visitor.cookie = cookie;
    expect((await visitor.submit('/logout', '')).status).toBe(303);
  });

  it('answers 405 to a GET, which keeps the session', async () => {
    const visitor = await signIn();
    const answer = await visitor.get('/logout');
    expect([answer.status, answer.headers['allow'], answer.setCookie]).toEqual([405, 'POST', undefined]);
    expect((await visitor.get('/')).text).toContain('<h1>Home</h1>');
  });
});

describe('pages before and after signing in', () => {
  it('redirect visitors who are not signed in to the form, even with an expired cookie', async () => {
    const visitor = visit();
    const answer = await visitor.get('/');
    expect([answer.status, answer.location, answer.headers['cache-control']]).toEqual([303, '/login', 'no-store']);
    visitor.cookie = 'coordinator_session=eyJhbGciOiJub25lIn0.e30.';
    expect((await visitor.get('/')).location).toBe('/login');
    expect((await visitor.get('/login')).text).toContain('name="password"');
  });

  it('show who is signed in and until when, with links to continue and to sign out', async () => {
    const visitor = await signIn();
    const { status, text } = await visitor.get('/login?next=/api/docs%23runs');
    expect(status).toBe(200);
    expect(text).toContain(ana.email);
    expect(text).toMatch(/<time datetime="\d{4}-\d\d-\d\dT[^"]+Z">\d+ \w+ \d{4}, \d\d:\d\d UTC<\/time>/);
    expect(text).toContain('href="/api/docs#runs"');
    expect(text).toContain('<form method="post" action="/logout">');
    expect(text).not.toContain('name="password"');
  });

  it('accept only the session cookie, and neither API keys nor tokens', async () => {
    const signedIn = await api.signIn(ana);
    const { body } = await signedIn.post('/profile/api-keys', { name: 'x' });
    expect(body.key).toMatch(/^dc_/);
    expect((await visit().get('/', { 'x-api-key': body.key })).location).toBe('/login');
    const visitor = await signIn();
    expect((await visitor.get('/', { 'x-api-key': body.key })).status).toBe(400);
  });

  it('are not operations of the API, and contain no inline scripts or styles', async () => {
    const document = (await api.app.inject('/api/v1/openapi.json')).json();
    expect(Object.keys(document.paths)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^\/(log|assets|$)/)]),
    );
    const { text, headers } = await visit().get('/login');
    expect(text).not.toMatch(/<script(?! src="\/assets\/)|<style|\sstyle=|\son\w+=|https?:/);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none';script-src 'self';" +
        "style-src 'self';img-src 'self';font-src 'self';connect-src 'self'",
    );
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(headers['x-frame-options']).toBe('DENY');
  });
});
