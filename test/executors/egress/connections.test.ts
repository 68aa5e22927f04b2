import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, curl, exchange, openRaw, startProxy, startTcp } from './support.ts';

afterEach(closeAll);

describe('a connection through the proxy', () => {
  it('a connection through the proxy to a server that refuses it answers 502', async () => {
    const gone = await startTcp(() => {});
    gone.close();
    const proxy = await startProxy({});
    expect(await curl(proxy.port, `http://127.0.0.1:${gone.port}/`)).toMatch(/failed: ECONNREFUSED\n\n502$/);
  });

  it('a connection through the proxy that cannot be made in time answers 504', async () => {
    const never = (_addresses: readonly string[], _port: number, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const proxy = await startProxy({}, { connect: never, limits: { connectMs: 200 } });
    expect(await curl(proxy.port, 'http://127.0.0.1:1/')).toMatch(/did not answer in time\n\n504$/);
  });

  it('a connection through the proxy that is still being made is aborted when the proxy closes', async () => {
    const given: AbortSignal[] = [];
    const connect = (_addresses: readonly string[], _port: number, signal: AbortSignal) => {
      given.push(signal);
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('closed'))),
      );
    };
    const proxy = await startProxy({}, { connect });
    const { socket, closed } = openRaw(proxy.port);
    socket.write('CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: a\r\n\r\n');
    await expect.poll(() => given).toHaveLength(1);
    proxy.close();
    await closed;
    expect(given[0]?.aborted).toBe(true);
  });

  it('is closed if the client disconnected before the server answered', async () => {
    const server = await startTcp((socket) => socket.resume());
    const [dialled, disconnected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const connect = async (_addresses: readonly string[], port: number) => {
      dialled.resolve();
      await disconnected.promise;
      const remote = connectSocket({ host: '127.0.0.1', port, allowHalfOpen: true });
      await once(remote, 'connect');
      return remote;
    };
    const proxy = await startProxy({}, { connect });
    const { socket } = openRaw(proxy.port);
    socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await dialled.promise;
    socket.resetAndDestroy();
    await once(socket, 'close');
    await nextTurn();
    disconnected.resolve();
    await expect.poll(() => server.seen).toBe(1);
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('is closed when the client or the server closes it', async () => {
    const server = await startTcp((socket) => socket.on('data', (data) => socket.write(data)));
    const proxy = await startProxy({});
    const client = openRaw(proxy.port);
    client.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\nearly`);
    await expect.poll(() => client.seen()).toMatch(/established\r\n\r\nearly$/);
    client.socket.destroy();
    await expect.poll(() => server.sockets.size).toBe(0);
    const second = openRaw(proxy.port);
    second.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await expect.poll(() => second.seen()).toContain('established');
    for (const socket of server.sockets) socket.destroy();
    await second.closed;
  });

  it('carries the response to a client that has closed its sending half', async () => {
    const server = await startTcp((socket) => {
      socket.resume().on('end', () => setImmediate(() => socket.end('the answer')));
    }, true);
    const proxy = await startProxy({});
    const client = openRaw(proxy.port, true);
    client.socket.end(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\nquestion`);
    expect(await client.closed).toMatch(/established\r\n\r\nthe answer$/);
  });

  it('a connection through the proxy that is idle for too long is closed on both sides', async () => {
    const server = await startTcp((socket) => socket.resume());
    const proxy = await startProxy({}, { limits: { idleMs: 200 } });
    const client = openRaw(proxy.port);
    client.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(await client.closed).toContain('established');
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('a connection through the proxy that is half-open and idle is closed sooner than a full one', async () => {
    const server = await startTcp((socket) => socket.resume().end('bye'), true);
    const proxy = await startProxy({}, { limits: { halfOpenMs: 200 } });
    const client = openRaw(proxy.port, true);
    client.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await expect.poll(() => client.socket.readableEnded).toBe(true);
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(client.seen()).toMatch(/bye$/);
  });

  it('a connection through the proxy to a web server that sends nothing answers 504', async () => {
    const server = await startTcp((socket) => socket.resume());
    const proxy = await startProxy({}, { limits: { idleMs: 200 } });
    expect(await curl(proxy.port, `http://127.0.0.1:${server.port}/`)).toMatch(/nothing came for too long\n\n504$/);
  });

  it("is refused beyond the attempt's limit, and allowed again once another one has ended", async () => {
    const server = await startTcp((socket) => socket.resume());
    const proxy = await startProxy({}, { limits: { connections: 2 } });
    const ask = `CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`;
    const clients = [openRaw(proxy.port), openRaw(proxy.port)];
    for (const client of clients) client.socket.write(ask);
    await expect.poll(() => clients.every((client) => client.seen().includes('established'))).toBe(true);
    expect(await exchange(proxy.port, ask)).toMatch(/^HTTP\/1\.1 503 refused: too many/);
    clients[0]?.socket.destroy();
    const answer = async () => {
      const next = openRaw(proxy.port);
      next.socket.write(ask);
      await expect.poll(() => next.seen()).toMatch(/established|503/);
      return next.seen();
    };
    await expect.poll(answer).toContain('established');
  });

  it('buffers little when the client does not read', async () => {
    let sent = 0;
    const server = await startTcp((socket) => {
      const more = () => {
        while (socket.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024;
      };
      socket.on('drain', more);
      more();
    });
    const proxy = await startProxy({});
    const client = openRaw(proxy.port);
    client.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await expect.poll(() => client.seen()).toContain('established');
    client.socket.pause();
    // A busy machine takes a while to fill the buffers.
    await vi.waitFor(
      async () => {
        const before = sent;
        await sleep(500);
        expect(sent).toBe(before);
      },
      { timeout: 20_000 },
    );
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it('is closed when the proxy closes', async () => {
    const server = await startTcp((socket) => socket.resume());
    const proxy = await startProxy({});
    const client = openRaw(proxy.port);
    client.socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await expect.poll(() => server.sockets.size).toBe(1);
    proxy.close();
    await client.closed;
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(await curl(proxy.port, `http://127.0.0.1:${server.port}/`)).toMatch(/the attempt has ended\n\n503$/);
  });
});
