import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pagePolicy } from '#api/edge/security-headers.ts';
import { createEdgeApp, type EdgeApp, jsonType } from '#test/support/api/edge-app.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const apps: FastifyInstance[] = [];

async function start(options: Parameters<typeof createEdgeApp>[1] = {}): Promise<EdgeApp & { port: number }> {
  const edge = await createEdgeApp((app) => {
    app.get('/api/v1/items/:id', async () => ({ ok: true }));
    app.get('/page', { helmet: { contentSecurityPolicy: pagePolicy } }, async (_request, reply) =>
      reply.type('text/html').send('<p>'),
    );
    app.get('/cached', async (_request, reply) => reply.header('cache-control', 'public, max-age=60').send({}));
    app.get('/probe', { config: { anyHost: true } }, async () => ({ ok: true }));
    app.get('/slow', async (request) => {
      await new Promise((resolve) => request.raw.once('close', resolve));
      return {};
    });
    app.get('/peer', async (request) => ({ ip: request.ip, host: request.host, protocol: request.protocol }));
    app.post('/log-me', async (request) => {
      request.log.info(
        { headers: request.headers, body: request.body, password: 'pw-secret', nested: { token: 'tk-secret' } },
        'careless',
      );
      request.log.info({ req: request }, 'careless too');
      return {};
    });
  }, options);
  apps.push(edge.app);
  await edge.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...edge, port: (edge.app.server.address() as AddressInfo).port };
}

/** A request with exactly these headers over a real socket. */
function ask(port: number, path: string, headers: Record<string, string | string[]>, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const asking = httpRequest({ port, path, method, headers, setHost: false, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asking.on('error', reject);
    asking.end();
  });
}

let edge: EdgeApp & { port: number };
beforeAll(async () => {
  edge = await start({ principalIdOf: (request) => (request.headers['x-api-key'] ? 'principal-7' : undefined) });
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

const get = (url: string, headers: Record<string, string> = {}) => edge.app.inject({ method: 'GET', url, headers });

describe('every answer is numbered', () => {
  it('by this server, whatever the client claims', async () => {
    const forged = { 'x-request-id': 'mine', 'request-id': 'mine', 'x-support-id': 'mine' };
    const ids = await Promise.all([get('/cached', forged), get('/nowhere', forged), get('/cached?x=1', forged)]);
    for (const { headers } of ids) {
      expect(headers['x-request-id']).toMatch(uuid7);
      expect(headers['x-support-id']).toBeUndefined();
    }
    expect(new Set(ids.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
  });

  it.each(['build-42', 'a', 'x'.repeat(128), 'with space inside'])(
    'and echoes the client’s own number %s',
    async (id) => {
      expect((await get('/cached', { 'x-client-request-id': id })).headers['x-client-request-id']).toBe(id);
      expect(edge.logLines().some((line) => line['client_request_id'] === id)).toBe(true);
    },
  );

  it.each(['', ' ', 'x'.repeat(129), 'tab\there', 'ümlaut', '\x1b[31mred'])('but not %j', async (id) => {
    const response = await get('/cached', { 'x-client-request-id': id });
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-client-request-id']).toBeUndefined();
  });
});

describe('the log', () => {
  it('has one line a request, with the route’s pattern and who asked, and no address', async () => {
    const before = edge.logLines().length;
    const response = await get('/api/v1/items/secret-id-in-path?', {
      'x-api-key': 'dc_secret-key',
      cookie: 'c=secret-cookie',
    });
    const lines = edge.logLines().slice(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      method: 'GET',
      route: '/api/v1/items/:id',
      status: 200,
      principal_id: 'principal-7',
      client_address: '127.0.0.1',
      request_id: response.headers['x-request-id'],
      duration_ms: expect.any(Number),
    });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('does not repeat an unknown path, which may hold a token', async () => {
    await get('/password-reset/secret-token');
    expect(edge.logText()).not.toContain('secret-token');
    expect(edge.logLines().some((line) => line['route'] === 'unmatched' && line['status'] === 404)).toBe(true);
  });

  it('keeps secrets out even of a careless line', async () => {
    await edge.app.inject({
      method: 'POST',
      url: '/log-me',
      headers: {
        ...jsonType,
        authorization: 'Bearer au-secret',
        cookie: 'c=co-secret',
        'x-api-key': 'dc_ke-secret',
        'x-service-bootstrap-token': 'bo-secret',
      },
      payload: '{}',
    });
    expect(edge.logText()).toContain('careless too');
    for (const secret of ['pw', 'tk', 'au', 'co', 'ke', 'bo']) expect(edge.logText()).not.toContain(`${secret}-secret`);
  });

  it('tells of a client that went away', async () => {
    const asking = httpRequest({ port: edge.port, path: '/slow' });
    asking.on('error', () => {});
    asking.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    asking.destroy();
    await expect
      .poll(() => edge.logLines().filter((line) => line['route'] === '/slow' && line['status'] === 'aborted'))
      .toHaveLength(1);
  });
});

describe('security headers', () => {
  it('are on every kind of answer, errors and unknown paths included', async () => {
    for (const url of ['/api/v1/items/1', '/nowhere', '/api/v1/items/1?x=1']) {
      const { headers } = await get(url);
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });

  it('let a page load its own parts and nothing else', async () => {
    const policy = String((await get('/page')).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
  });

  it('leave a route its own caching', async () => {
    expect((await get('/cached')).headers['cache-control']).toBe('public, max-age=60');
  });

  it('demand https only where the base URL is https', async () => {
    const secure = await start({ baseUrl: 'https://coordinator.example' });
    const response = await secure.app.inject({ url: '/cached', headers: { host: 'coordinator.example' } });
    expect(response.headers['strict-transport-security']).toBe('max-age=31536000');
  });
});

describe('the Host', () => {
  it.each([
    'localhost',
    'localhost:8080',
    '127.0.0.1',
    '127.0.0.1:9',
    '127.9.9.9',
    '[::1]:8080',
    'LOCALHOST',
    'app.localhost',
  ])('%s is loopback and answered', async (host) => {
    expect((await ask(edge.port, '/cached', { host })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'notlocalhost',
    '0.0.0.0',
    '[::]',
  ])('%s is another server’s: 421', async (host) => {
    const answer = await ask(edge.port, '/cached', { host });
    expect(answer.status).toBe(421);
    expect(JSON.parse(answer.body).error).toMatch(/COORDINATOR_BASE_URL/);
  });

  it.each(['', 'a b', 'user@localhost', 'localhost:', 'localhost:99999999', 'localhost/x', '[::1', '<script>'])(
    '%j is none: 400',
    async (host) => {
      const answer = await ask(edge.port, '/cached', { host });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toEqual({ error: expect.stringContaining('Host') });
    },
  );

  it('is required, in the usual shape', async () => {
    const answer = await ask(edge.port, '/cached', {});
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toEqual({ error: 'the Host header is missing or is not a valid host' });
    expect(answer.headers['x-request-id']).toMatch(uuid7);
  });

  it('may be the base URL’s, with its port or the standard one, and no other', async () => {
    const named = await start({ baseUrl: 'https://Coordinator.example' });
    for (const [host, status] of [
      ['coordinator.example', 200],
      ['COORDINATOR.example:443', 200],
      ['coordinator.example.', 200],
      ['coordinator.example:8080', 421],
      ['x.coordinator.example', 421],
    ] as const) {
      expect((await ask(named.port, '/cached', { host })).status).toBe(status);
    }
    expect((await ask(named.port, '/cached', { host: 'evil.example' })).body).toContain('https://Coordinator.example');
  });

  it('is not believed from a forwarded header unless the proxy is trusted', async () => {
    const forwarded = {
      host: 'localhost',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
    };
    expect(JSON.parse((await ask(edge.port, '/peer', forwarded)).body)).toEqual({
      ip: '127.0.0.1',
      host: 'localhost',
      protocol: 'http',
    });
    const behind = await start({ baseUrl: 'https://coordinator.example', trustedProxies: ['127.0.0.1'] });
    const trusted = { ...forwarded, host: 'internal', 'x-forwarded-host': 'coordinator.example' };
    expect(JSON.parse((await ask(behind.port, '/peer', trusted)).body)).toEqual({
      ip: '203.0.113.9',
      host: 'coordinator.example',
      protocol: 'https',
    });
    expect((await ask(behind.port, '/peer', forwarded)).status).toBe(421);
  });

  it('is not asked of probes', async () => {
    expect((await ask(edge.port, '/probe', { host: 'whatever.internal' })).status).toBe(200);
  });
});
