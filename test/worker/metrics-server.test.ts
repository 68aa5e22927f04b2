import { request } from 'node:http';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { announceSpan } from '#domain/shared/tasks/spans.ts';
import { findFreePort } from '#local/ports.ts';
import { type MetricsServer, openMetricsServer } from '#worker/metrics-server.ts';
import { addProviderMetrics } from '#worker/provider-metrics.ts';

const log = pino({ level: 'silent' });
const open: MetricsServer[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

async function start(bearerToken: string | null = null): Promise<string> {
  const workerPort = await findFreePort();
  const server = await openMetricsServer(
    { adminHost: '127.0.0.1', metrics: { enabled: true, bearerToken, workerPort } },
    log,
  );
  open.push(server);
  return server.url ?? '';
}

it('a worker without a port for its metrics listens on none', async () => {
  const metrics = { enabled: true, bearerToken: null, workerPort: null };
  expect(await openMetricsServer({ adminHost: '127.0.0.1', metrics }, log)).toMatchObject({ url: null });
});

it('the metrics of a worker count its spans by their names and the programs that they call', async () => {
  const url = await start();
  announceSpan({ name: 'claim', startedAt: 1000, endedAt: 1030, facts: { attemptId: 'secret-id' } });
  announceSpan({ name: 'program', startedAt: 1000, endedAt: 1400, facts: { call: 'plan' } });
  announceSpan({ name: 'program', startedAt: 1000, endedAt: 1200, facts: { call: 'plan' } });
  const answer = await fetch(url);
  const text = await answer.text();
  expect(answer.headers.get('content-type')).toContain('text/plain');
  expect(text).toContain('span_duration_seconds_bucket{le="0.025",span="claim",call=""} 0');
  expect(text).toContain('span_duration_seconds_bucket{le="0.05",span="claim",call=""} 1');
  expect(text).toContain('span_duration_seconds_count{span="program",call="plan"} 2');
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).not.toContain('secret-id');
});

it('the metrics of a worker say what its executor does with its store of providers', async () => {
  const url = await start();
  const counts = { hits: 7, fetches: 2, evictions: 1, bytes: 123_456 };
  const registry = open.at(-1)?.registry;
  if (!registry) throw new Error('it serves no metrics');
  addProviderMetrics(registry, { providerCounts: counts });
  await fetch(url);
  const text = await (await fetch(url)).text();
  expect(text.match(/^provider_store.*$/gm)).toEqual([
    'provider_store_hits_total 7',
    'provider_store_fetches_total 2',
    'provider_store_evictions_total 1',
    'provider_store_bytes 123456',
  ]);
});

it('a span whose clocks disagree counts as one without length', async () => {
  const url = await start();
  announceSpan({ name: 'program', startedAt: 1000, endedAt: 900, facts: { call: 'plan' } });
  expect(await (await fetch(url)).text()).toContain('span_duration_seconds_sum{span="program",call="plan"} 0');
});

it('the metrics of a worker require the exact bearer token if one is set', async () => {
  const url = await start('scrape-me-0123456789');
  const ask = (authorization: string) => fetch(url, { headers: { authorization } });
  expect((await ask('Bearer scrape-me-0123456789')).status).toBe(200);
  for (const wrong of ['Bearer scrape-me-012345678', 'Basic scrape-me-0123456789', '']) {
    const answer = await ask(wrong);
    expect(answer.status).toBe(401);
    expect(await answer.text()).toBe('');
  }
});

it('a worker serves nothing but reads of its metrics', async () => {
  const url = await start();
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  expect((await fetch(url.replace('/metrics', '/'))).status).toBe(404);
});

it('a worker refuses a name that points to this machine', async () => {
  const url = await start();
  const ask = (host: string) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode));
      sent.on('error', reject).end();
    });
  expect(await ask('rebound.example')).toBe(421);
  expect(await ask('localhost:1234')).toBe(200);
});

it('a worker that has stopped serves no metrics', async () => {
  const url = await start();
  await open.pop()?.close();
  await expect(fetch(url)).rejects.toThrow();
});
