import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const visit = (headers?: Record<string, string>) => new Visitor(api.app, headers);

describe('an error on a page', () => {
  it.each([
    ['a form in JSON', { 'content-type': 'application/json' }, '{"email":"ana@example.com"}', 415],
    ['a form over 64 KiB', {}, `email=${'x'.repeat(70_000)}`, 413],
    ['a field that the form does not have', {}, 'email=a&role=admin', 400],
    ['a field sent twice', {}, 'email=a&email=b&password=x', 400],
    ['a form of another site', { 'sec-fetch-site': 'cross-site' }, 'email=a', 403],
  ])('is shown as a page with its request id: %s', async (_what, headers: Record<string, string>, fields, status) => {
    const answer = await visit().submit('/login', fields, headers);
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
    expect(answer.text).toContain(`<code>${answer.headers['x-request-id']}</code>`);
    expect(answer.text).toMatch(/<h1 id="title">\w/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-security-policy']).toContain("style-src 'self'");
  });

  it('an error about another host is shown as a page that links only to this service', async () => {
    const answer = await visit().get('//evil.example/login', { host: 'evil.example' });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('href="//');
    expect((await visit().get('/login', { host: 'evil.example' })).headers['content-type']).toMatch(/^text\/html/);
  });

  it('an error of the service is shown as a page with only its support id, which offers to try again', async () => {
    const broken = await startApi();
    const visitor = new Visitor(broken.app);
    const user = await broken.addUser('admin', 'Ana');
    await visitor.submit('/login', { email: user.email, password: testPassword });
    await broken.rows('alter table sessions rename to gone');
    const failed = await visitor.get('/login?next=/api/docs');
    expect(failed.status).toBe(500);
    expect(failed.text).toContain(`<code>${failed.headers['x-support-id']}</code>`);
    expect(failed.text).toContain('Internal error.');
    expect(failed.text).not.toMatch(/sessions|select|relation/);
    expect(failed.text).toContain('href="/login?next=/api/docs"');
    await broken.close();
  });
});

describe('an unknown path', () => {
  it('is answered with a page to a browser, with a stylesheet that the policy allows', async () => {
    const answer = await visit().get('/logn');
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(answer.headers['content-security-policy']).toContain("style-src 'self'");
    const script = await visit().get('/"><script>alert(1)</script>');
    expect(script.text).not.toMatch(/<script(?! src="\/assets\/)/);
  });

  it('is answered with JSON to other clients, and below /api to all clients', async () => {
    for (const [url, accept] of [
      ['/logn', 'application/json'],
      ['/logn', ''],
      ['/api/v1/nothing', 'text/html'],
      ['/api?x', 'text/html'],
    ] as const) {
      const answer = await visit().get(url, { accept });
      expect([answer.status, answer.headers['content-type']], url).toEqual([404, 'application/json; charset=utf-8']);
      expect(answer.headers['content-security-policy']).not.toContain("'self'");
    }
  });
});

describe('the assets of the pages', () => {
  const stylesheet = async () => /href="(\/assets\/[^"]+\.css)"/.exec((await visit().get('/login')).text)![1]!;

  it('may be cached forever, because their address changes with their content', async () => {
    const answer = await visit().get(await stylesheet());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/css; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    const etag = String(answer.headers['etag']);
    const again = await visit().get(await stylesheet(), { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('the assets of another release are answered with those of this release, uncached', async () => {
    const answer = await visit().get('/assets/another-release/coordinator.css');
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-cache']);
  });

  it.each([
    '/assets/x/package.json',
    '/assets/x/..%2flayout.ts',
    '/assets/x/%2e%2e',
    '/assets/x/coordinator.css%00',
    '/assets/x/',
  ])('are the only files that are served: %s answers 404', async (url) => {
    const answer = await visit().get(url);
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toMatch(/import|dependencies/);
  });
});

describe('the session cookie', () => {
  let secured: TestApi;
  beforeAll(async () => {
    secured = await startApi({ COORDINATOR_BASE_URL: 'https://coordinator.example.com' });
  });
  afterAll(() => secured?.close());

  const cookieOf = async (target: TestApi, headers: Record<string, string>) => {
    const user = await target.addUser('requester');
    const fields = { email: user.email, password: testPassword };
    const page = await new Visitor(target.app).submit('/login', fields, headers);
    const call = await target.app.inject({ method: 'POST', url: '/api/v1/auth/sessions', headers, payload: fields });
    return { page, call: String(call.headers['set-cookie']), callStatus: call.statusCode };
  };

  it('is Secure if the base URL is https, even through a proxy that names loopback', async () => {
    for (const host of ['coordinator.example.com', '127.0.0.1:8080']) {
      const { page, call } = await cookieOf(secured, { host });
      expect(page.setCookie, host).toMatch(/^__Host-coordinator_session=.*; Path=\/; HttpOnly; Secure/);
      expect(call, host).toMatch(/^__Host-coordinator_session=.*; Secure/);
    }
  });

  it('is read by the name that only the host itself can set over TLS, and by no other', async () => {
    const host = 'coordinator.example.com';
    const visitor = new Visitor(secured.app, { host });
    const { email } = await secured.addUser('requester');
    expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
    expect((await visitor.get('/profile')).status).toBe(200);
    visitor.cookie = visitor.cookie?.replace('__Host-', '');
    expect((await visitor.get('/profile')).location).toBe('/login?next=%2Fprofile');
  });

  it('is not Secure over loopback', async () => {
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'coordinator.localhost']) {
      const { page, call } = await cookieOf(api, { host });
      expect([page.status, page.setCookie], host).toEqual([303, expect.not.stringContaining('Secure')]);
      expect(call, host).toMatch(/^coordinator_session=(?!.*Secure)/);
    }
  });

  it('cannot be set without TLS over a network, and the sign-in page says so first', async () => {
    const open = await startApi({ COORDINATOR_BASE_URL: 'http://coordinator.internal:8080' });
    const host = 'coordinator.internal:8080';
    const shown = await new Visitor(open.app).get('/login', { host });
    expect([shown.status, shown.text.includes('name="password"')]).toEqual([200, false]);
    expect(shown.text).toMatch(/role="alert"[\s\S]*not encrypted/);
    const { page, call, callStatus } = await cookieOf(open, { host });
    expect([page.status, page.setCookie]).toEqual([403, undefined]);
    expect([callStatus, call]).toEqual([201, expect.stringContaining('; Secure')]);
    await open.close();
  });

  it('is Secure behind a trusted proxy that terminates TLS', async () => {
    const proxied = await startApi({ COORDINATOR_TRUSTED_PROXIES: '127.0.0.1' });
    const forwarded = { 'x-forwarded-proto': 'https', host: 'localhost' };
    expect((await cookieOf(proxied, forwarded)).page.setCookie).toMatch(/; Secure/);
    await proxied.close();
    expect((await cookieOf(api, forwarded)).page.setCookie).not.toMatch(/; Secure/);
  });

  it('is cleared with the same attributes', async () => {
    const host = 'coordinator.example.com';
    const answer = await new Visitor(secured.app).submit('/logout', '', { host });
    expect(answer.setCookie).toMatch(/^__Host-coordinator_session=; .*Secure/);
  });
});
