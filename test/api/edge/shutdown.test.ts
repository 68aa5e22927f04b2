import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stopServer } from '#api/edge/shutdown.ts';
import { sendEvents } from '#api/edge/sse.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';

const open: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) {
    app.server.closeAllConnections();
    await app.close();
  }
});

async function start() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const arrived: string[] = [];
  const { app } = await createEdgeApp((server) => {
    server.addHook('preHandler', async ({ url }) => void arrived.push(url));
    server.get('/slow', async () => {
      await released;
      return { done: true };
    });
    server.get('/quick', async () => ({ ok: true }));
    server.get('/probe', { config: { whileStopping: true } }, async () => ({ stopping: server.stopping.aborted }));
    server.get('/stream', (request, reply) =>
      sendEvents(request, reply, async function* ({ signal }) {
        yield { data: 'first' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    );
  });
  open.push(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  /** Waits until the service handles so many requests for a path. */
  const arrivalOf = (path: string, count = 1) =>
    expect.poll(() => arrived.filter((url) => url === path).length, { interval: 5 }).toBe(count);
  return { app, release, arrivalOf, port: (app.server.address() as AddressInfo).port };
}

function fetchOver(
  port: number,
  path: string,
  agent: Agent,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  return new Promise((resolve, reject) => {
    get({ port, path, agent }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    }).on('error', reject);
  });
}

/** Waits until a server accepts no connections any more. */
const refusal = (port: number) =>
  vi.waitFor(() => expect(fetchOver(port, '/quick', new Agent())).rejects.toThrow(/ECONNREFUSED/), {
    interval: 5,
    timeout: 30_000,
  });

describe('stopping', () => {
  it('lets a slow request finish and then closes its kept-alive connection', async () => {
    const { app, port, release, arrivalOf } = await start();
    const agent = new Agent({ keepAlive: true });
    await fetchOver(port, '/quick', agent);
    const slow = fetchOver(port, '/slow', agent);
    await arrivalOf('/slow');
    const stopping = stopServer(app, { within: 10_000 });
    await refusal(port);
    release();
    const answer = await slow;
    expect([answer.status, answer.body, answer.headers.connection]).toEqual([200, '{"done":true}', 'close']);
    const started = performance.now();
    expect(await stopping).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
    agent.destroy();
  });

  it('accepts no new connections, and rejects new requests on open ones', async () => {
    const { app, port, release, arrivalOf } = await start();
    const socket = connect(port, '127.0.0.1');
    const answers = new Promise<string>((resolve, reject) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    });
    await arrivalOf('/slow');
    const stopping = stopServer(app, { within: 10_000 });
    await refusal(port);
    await new Promise((resolve) => socket.write('GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n', resolve));
    release();
    const text = await answers;
    expect(text).toMatch(/^HTTP\/1\.1 200 .*\{"done":true\}/s);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(await stopping).toBe(true);
  });

  it('ends event streams and closes their connections', async () => {
    const { app, port, arrivalOf } = await start();
    const agent = new Agent({ keepAlive: true });
    const streams = [1, 2, 3].map(() => fetchOver(port, '/stream', agent));
    await arrivalOf('/stream', 3);
    const started = performance.now();
    expect(await stopServer(app, { within: 10_000 })).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
    for (const { status, body } of await Promise.all(streams)) {
      expect(status).toBe(200);
      expect(body).toContain('data: first\n\n');
    }
    agent.destroy();
  });

  it('closes the connections of requests that do not finish in time, and logs that', async () => {
    const { app, port, arrivalOf } = await start();
    const slow = fetchOver(port, '/slow', new Agent()).catch((error: Error) => error);
    await arrivalOf('/slow');
    // The request would last for ever.
    expect(await stopServer(app, { within: 200 })).toBe(false);
    expect(await slow).toBeInstanceOf(Error);
  });

  it('is announced to load balancers before connections are refused', async () => {
    const { app, port } = await start();
    const stopping = stopServer(app, { announceFor: 200, within: 1_000 });
    const probe = await fetchOver(port, '/probe', new Agent());
    expect(JSON.parse(probe.body)).toEqual({ stopping: true });
    expect((await fetchOver(port, '/quick', new Agent())).status).toBe(200);
    expect(await stopping).toBe(true);
  });
});
