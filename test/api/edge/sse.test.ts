import { get as httpGet, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventContext, endEvents, formatEvent, type ServerEvent, sendEvents } from '#api/edge/sse.ts';
import { createEdgeApp, type EdgeApp } from '#test/support/api/edge-app.ts';

let edge: EdgeApp;
let app: FastifyInstance;
let port: number;
/** The latest response of each producer. */
const open = new Map<string, FastifyReply>();
const seen = { produced: 0, ended: [] as string[], signalled: 0, running: 0 };

const until = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

const producers: Record<string, (context: EventContext) => AsyncIterable<ServerEvent>> = {
  async *three() {
    yield { id: '1', event: 'log', data: 'plain\ntext' };
    yield { id: '2', data: { json: ['é', '\n'] } };
    yield { event: 'end', data: '' };
  },
  async *resume({ lastEventId }) {
    yield { data: lastEventId ?? 'from the start' };
  },
  async *silent({ signal }) {
    seen.running += 1;
    try {
      await until(signal);
      seen.signalled += 1;
      yield { data: 'nobody reads this' };
    } finally {
      seen.running -= 1;
    }
  },
  async *fails() {
    yield { data: 'before' };
    throw new Error('secret-reason');
  },
  async *flood({ signal }) {
    try {
      while (!signal.aborted) {
        seen.produced += 1;
        yield { data: 'x'.repeat(10_000) };
      }
    } finally {
      seen.ended.push('flood');
    }
  },
  async *fillsOnce({ signal }) {
    yield { data: 'x'.repeat(20_000_000) };
    await until(signal);
  },
  async *deaf() {
    // Ignores its signal.
    await pause(60_000, undefined, { ref: false });
    yield { data: 'too late' };
  },
};

beforeAll(async () => {
  edge = await createEdgeApp((server) => {
    server.get('/events/:what', (request, reply) => {
      const { what } = request.params as { what: string };
      const produce = producers[what]!;
      open.set(what, reply);
      return sendEvents(request, reply, produce, { heartbeat: 50, stalledAfter: 1_000 });
    });
  });
  app = edge.app;
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(() => app.close());

function openStream(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet({ port, path, headers, agent: false }, resolve).on('error', reject);
  });
}

async function readEvents(path: string, headers: Record<string, string> = {}): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const stream = await openStream(path, headers);
  stream.setEncoding('utf8');
  for await (const chunk of stream) parser.feed(chunk);
  return events;
}

describe('an event stream', () => {
  it('delivers all events and then ends', async () => {
    expect(await readEvents('/events/three')).toEqual([
      { id: '1', event: 'log', data: 'plain\ntext' },
      { id: '2', event: undefined, data: '{"json":["é","\\n"]}' },
      expect.objectContaining({ event: 'end', data: '' }),
    ]);
  });

  it('has headers that disable caching and buffering', async () => {
    const stream = await openStream('/events/three');
    stream.resume();
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
  });

  it('cannot contain an injected event', () => {
    const text = formatEvent({
      id: 'a\nevent: forged',
      event: 'x\r\ndata: forged',
      data: 'one\r\n\r\nevent: forged\rdata: forged\n\n',
    });
    const events: EventSourceMessage[] = [];
    createParser({ onEvent: (event) => events.push(event) }).feed(text);
    expect(events).toEqual([
      { id: 'aevent: forged', event: 'xdata: forged', data: 'one\n\nevent: forged\ndata: forged\n\n' },
    ]);
  });

  it('passes the last event id to the producer if it is acceptable', async () => {
    expect((await readEvents('/events/resume', { 'last-event-id': '41' }))[0]?.data).toBe('41');
    expect((await readEvents('/events/resume'))[0]?.data).toBe('from the start');
    expect((await readEvents('/events/resume', { 'last-event-id': 'x'.repeat(300) }))[0]?.data).toBe('from the start');
  });

  it('opens at once and sends heartbeats while there are no events', async () => {
    const stream = await openStream('/events/silent');
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    stream.on('error', () => {});
    await expect.poll(() => text.match(/: heartbeat\n\n/g)?.length ?? 0).toBeGreaterThanOrEqual(3);
    expect(text).toMatch(/^: open\n\n/);
    stream.destroy();
  });

  it('ends with an error event without details if the producer fails, and the failure is logged', async () => {
    const events = await readEvents('/events/fails');
    expect(events.map((event) => event.event ?? 'message')).toEqual(['message', 'error']);
    const { error, support_id } = JSON.parse(events[1]?.data ?? '');
    expect(error).toBe('internal error');
    const line = edge.logLines().find((each) => each['support_id'] === support_id);
    expect(JSON.stringify(line)).toContain('secret-reason');
  });

  it('ends its producer when the client disconnects, even before the first event', async () => {
    const before = seen.signalled;
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream('/events/silent')));
    await expect.poll(() => seen.running).toBe(20);
    for (const stream of streams) stream.on('error', () => {}).destroy();
    await expect.poll(() => seen.signalled - before).toBe(20);
    expect(seen.running).toBe(0);
  });

  it('ends when the client disconnects even if the producer ignores its signal', async () => {
    const connections = () =>
      new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    const stream = await openStream('/events/deaf');
    stream.on('error', () => {}).destroy();
    await expect.poll(connections).toBe(0);
  });

  it('produces no more than a slow client reads, and disconnects a client that reads nothing', async () => {
    seen.produced = 0;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /events/flood HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.pause();
    await pause(300);
    const early = seen.produced;
    await pause(300);
    expect(seen.produced).toBe(early);
    expect(early * 10_000).toBeLessThan(16 * 1024 * 1024);
    await expect.poll(() => seen.ended).toContain('flood');
    socket.destroy();
  });

  it.each(['silent', 'deaf'])('an event stream that the server ends is a full response (%s producer)', async (what) => {
    const stream = await openStream(`/events/${what}`);
    stream.resume();
    const ended = new Promise<string>((resolve) => {
      stream.on('error', (error) => resolve(error.message)).on('end', () => resolve('whole'));
    });
    expect(endEvents(open.get(what)!)).toBe(true);
    expect(await ended).toBe('whole');
  });

  it('an event stream that the server ends is closed within two seconds, even if the client reads nothing', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /events/fillsOnce HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.pause();
    await expect.poll(() => open.has('fillsOnce')).toBe(true);
    await pause(200);
    const reply = open.get('fillsOnce')!;
    endEvents(reply);
    expect(reply.raw.destroyed).toBe(false);
    await expect.poll(() => reply.raw.destroyed).toBe(true);
    socket.destroy();
  });

  it('does not start the producer for HEAD', async () => {
    const before = seen.running;
    const response = await app.inject({ method: 'HEAD', url: '/events/silent' });
    expect(response.statusCode).toBe(200);
    await expect.poll(() => seen.running).toBe(before);
  });
});
