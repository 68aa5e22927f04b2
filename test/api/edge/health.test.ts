import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createAdminServer } from '#api/edge/admin/admin-server.ts';
import { health } from '#api/edge/admin/health.ts';
import { createMetricsRegistry, httpMetrics } from '#api/edge/admin/metrics.ts';
import { type DependencyCheck, Readiness } from '#api/edge/admin/readiness.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';

const open: FastifyInstance[] = [];
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

const fine = (name: string): DependencyCheck => ({ name, check: async () => {} });

/** A real connection to a port that nobody listens on. */
const refused: DependencyCheck = {
  name: 'database',
  check: () =>
    new Promise((resolve, reject) => {
      const socket = connect(1, '127.0.0.1', () => resolve());
      socket.on('error', reject);
    }),
};

async function start(readiness: Readiness) {
  const edge = await createEdgeApp(async (app) => {
    await app.register(health, { readiness });
  });
  open.push(edge.app);
  return edge;
}

async function startAdmin(readiness: Readiness, more: Partial<Parameters<typeof createAdminServer>[0]> = {}) {
  const app = await createAdminServer({
    logger: pino({ level: 'silent' }),
    readiness,
    versions: { service: '1.2.3', node: process.version },
    figures: () => ({ pool_idle: 3 }),
    registry: createMetricsRegistry(),
    ...more,
  });
  open.push(app);
  return app;
}

describe('probes', () => {
  it('answer that the process is alive without checking dependencies', async () => {
    const { app } = await start(new Readiness([refused]));
    for (const url of ['/health', '/healthz', '/healthz?verbose=1']) {
      const response = await app.inject({ url, headers: { host: 'pod-7.internal' } });
      expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }]);
      expect(response.headers['cache-control']).toBe('no-store');
    }
  });

  it('answer ready when all dependencies are available', async () => {
    const { app } = await start(new Readiness([fine('database'), fine('temporal'), fine('migrations')]));
    const response = await app.inject('/readyz');
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { status: 'ready', checks: { database: 'ok', temporal: 'ok', migrations: 'ok' } },
    ]);
  });

  it('answer degraded, and stay ready, if only a dependency fails that reads do not need', async () => {
    const ring: DependencyCheck = { name: 'key_ring', isOptional: true, check: () => Promise.reject(new Error('k1')) };
    const { app } = await start(new Readiness([fine('database'), ring]));
    const response = await app.inject('/readyz');
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { status: 'degraded', checks: { database: 'ok', key_ring: 'failed' } },
    ]);
    const both = await start(new Readiness([refused, ring]));
    const answer = await both.app.inject('/readyz');
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'not_ready']);
  });

  it('name the failed dependency without details', async () => {
    const { app } = await start(new Readiness([refused, fine('temporal')]));
    const response = await app.inject('/readyz');
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { error: 'not ready: database', status: 'not_ready', checks: { database: 'failed', temporal: 'ok' } },
    ]);
    expect(response.headers['x-support-id']).toBeDefined();
    expect(response.body).not.toMatch(/127\.0\.0\.1|ECONN/);
  });

  it('answer in time if a dependency hangs or throws something that is not an error', async () => {
    const hangs: DependencyCheck = { name: 'temporal', check: () => new Promise(() => {}) };
    const odd: DependencyCheck = { name: 'odd', check: () => Promise.reject(undefined) };
    const sync: DependencyCheck = {
      name: 'sync',
      check: () => {
        throw new Error('at once');
      },
    };
    const { app } = await start(new Readiness([hangs, odd, sync, fine('database')], { timeout: 100 }));
    // A dependency that is waited for would hang for ever.
    const response = await app.inject('/readyz');
    expect(response.json().error).toBe('not ready: temporal, odd, sync');
  });

  it('check the dependencies once for many probes, and again when the report has expired', async () => {
    let asked = 0;
    let up = false;
    const check = async () => {
      asked += 1;
      if (!up) throw new Error('down');
    };
    const { app } = await start(new Readiness([{ name: 'database', check }], { cacheFor: 100 }));
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject('/readyz')));
    expect(asked).toBe(1);
    expect(answers.every((answer) => answer.statusCode === 503)).toBe(true);
    up = true;
    await expect.poll(async () => (await app.inject('/readyz')).statusCode).toBe(200);
    expect(asked).toBe(2);
  });

  it('answer not ready but alive once the stop is announced', async () => {
    const { app } = await start(new Readiness([fine('database')]));
    await app.ready();
    app.announceStop();
    const response = await app.inject('/readyz');
    expect([response.statusCode, response.json().status]).toEqual([503, 'stopping']);
    expect((await app.inject('/healthz')).statusCode).toBe(200);
  });
});

describe('the admin listener', () => {
  it('gives the details that the public probe omits, but no passwords', async () => {
    const leaky: DependencyCheck = {
      name: 'temporal',
      check: () => Promise.reject(new Error('cannot reach postgres://user:hunter2@db/x')),
    };
    const app = await startAdmin(new Readiness([refused, leaky, fine('migrations')]));
    const response = await app.inject('/readyz/internal');
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({
      error: 'not ready: database, temporal',
      ready: false,
      versions: { service: '1.2.3', node: process.version },
      figures: { pool_idle: 3 },
      checks: [
        { name: 'database', ok: false, error: expect.stringContaining('ECONNREFUSED') },
        { name: 'temporal', ok: false, error: 'cannot reach postgres://[redacted]@db/x' },
        { name: 'migrations', ok: true, duration_ms: expect.any(Number) },
      ],
    });
  });

  it('serves no other paths', async () => {
    const app = await startAdmin(new Readiness([fine('database')]));
    for (const url of ['/health', '/healthz', '/readyz/internal', '/metrics'])
      expect((await app.inject(url)).statusCode).toBe(200);
    for (const url of ['/', '/readyz', '/api/v1/runs', '/api/docs', '/login'])
      expect((await app.inject(url)).statusCode).toBe(404);
    expect((await app.inject({ method: 'POST', url: '/metrics' })).statusCode).toBe(405);
  });

  it('requires the exact bearer token for metrics if one is set', async () => {
    const app = await startAdmin(new Readiness([]), { metricsBearerToken: 'scrape-me-0123456789' });
    const ask = async (authorization?: string) =>
      app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } });
    expect((await ask('Bearer scrape-me-0123456789')).statusCode).toBe(200);
    expect((await ask('bearer scrape-me-0123456789')).statusCode).toBe(200);
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'scrape-me-0123456789',
      'Basic scrape-me-0123456789',
      'Bearer scrape-me-012345678',
      'Bearer scrape-me-01234567890',
      'Bearer SCRAPE-ME-0123456789',
    ]) {
      const response = await ask(wrong);
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="metrics"');
    }
    expect((await app.inject('/readyz/internal')).statusCode).toBe(200);
  });

  it('has no metrics if they are disabled', async () => {
    const app = await startAdmin(new Readiness([]), { registry: null });
    expect((await app.inject('/metrics')).statusCode).toBe(404);
  });

  it('rejects other host names over loopback', async () => {
    const app = await startAdmin(new Readiness([]));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const status = await new Promise((resolve) => {
      request({ port, path: '/metrics', headers: { host: 'rebound.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(421);
  });
});

describe('metrics', () => {
  it('count and time requests by route pattern, never by address', async () => {
    const registry = createMetricsRegistry();
    const { app } = await createEdgeApp(async (server) => {
      await server.register(httpMetrics, { registry });
      server.get('/items/:id', async () => ({}));
    });
    open.push(app);
    for (const url of ['/items/1', '/items/2', '/items/3?x=1', '/secret/path', '/secret/other']) await app.inject(url);
    const text = await registry.metrics();
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/items/:id",status="200"} 2');
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/items/:id",status="400"} 1');
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="unmatched",status="404"} 2');
    expect(text).toMatch(/http_requests_in_flight 0/);
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).not.toContain('secret');
  });
});
