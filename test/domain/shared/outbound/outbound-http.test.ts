import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Unavailable } from '#domain/shared/errors.ts';
import { OutboundFailure, OutboundHttp, type OutboundRequest } from '#domain/shared/outbound/outbound-http.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';

const opened: (Server | OutboundHttp)[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  opened.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function open(allow: readonly string[] = [], resolve?: () => Promise<readonly string[]>): OutboundHttp {
  const http = new OutboundHttp(parseOutboundPolicy(allow), resolve ? { resolve } : {});
  opened.push(http);
  return http;
}

async function reasonOf(http: OutboundHttp, url: string, more: Partial<OutboundRequest> = {}): Promise<string> {
  const error = await http.send({ method: 'GET', url, ...more }).catch((thrown: unknown) => thrown);
  return error instanceof OutboundFailure ? error.reason : `answered ${JSON.stringify(error)}`;
}

describe('an outbound request', () => {
  it('returns status, headers and body of a host that an operator allowed by name', async () => {
    let seen: IncomingMessage | undefined;
    const port = await serve((request, response) => {
      seen = request;
      response.writeHead(201, { 'x-answer': 'yes' }).end('taken');
    });
    const http = open(['hooks.internal'], async () => ['127.0.0.1']);
    const answer = await http.send({ method: 'POST', url: `http://hooks.internal:${port}/in?a=1`, body: '{}' });
    expect(answer).toMatchObject({ status: 201, isCut: false, headers: { 'x-answer': 'yes' } });
    expect(answer.body.toString()).toBe('taken');
    expect([seen?.method, seen?.url, seen?.headers.host]).toEqual(['POST', '/in?a=1', `hooks.internal:${port}`]);
  });

  it('is refused when a name that was public leads to a private address at the next connection', async () => {
    const port = await serve((_, response) => response.writeHead(200, { connection: 'close' }).end('secret'));
    let answers = ['127.0.0.1'];
    const http = open(['127.0.0.1'], async () => answers);
    const url = `http://rebind.example:${port}/`;
    expect((await http.send({ method: 'GET', url })).status).toBe(200);
    answers = ['127.0.0.2'];
    expect(await reasonOf(http, url)).toBe('refused');
  });

  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '169.254.169.254',
  ])('is refused at the address %s, however it is written', async (host) => {
    const port = await serve((_, response) => response.end('secret'));
    expect(await reasonOf(open(), `https://${host}:${port}/`)).toBe('refused');
  });

  it('keeps connections for a limited number of certificate sets', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((_, response) => response.end());
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    opened.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const http = open(['127.0.0.1']);
    for (let index = 0; index < 50; index++) await http.send({ method: 'GET', url, certificates: `set ${index}` });
    await expect.poll(() => sockets.size).toBe(32);
    expect((await http.send({ method: 'GET', url, certificates: 'set 0' })).status).toBe(200);
  });

  it('does not follow a redirect', async () => {
    const port = await serve((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
    const answer = await open(['127.0.0.1']).send({ method: 'GET', url: `http://127.0.0.1:${port}/` });
    expect(answer.status).toBe(302);
  });

  it('reads no more of an endless response than its limit', async () => {
    const port = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.once('close', () => clearInterval(timer));
    });
    const url = `http://127.0.0.1:${port}/`;
    const answer = await open(['127.0.0.1']).send({ method: 'GET', url, maxBytes: 25_000 });
    expect([answer.body.length, answer.isCut]).toEqual([25_000, true]);
  });

  it('ends at its time limit if the host sends little or nothing', async () => {
    const dripping = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(timer));
    });
    const silent = await serve(() => undefined);
    const http = open(['127.0.0.1']);
    expect(await reasonOf(http, `http://127.0.0.1:${dripping}/`, { timeoutMs: 300 })).toBe('timed_out');
    expect(await reasonOf(http, `http://127.0.0.1:${silent}/`, { timeoutMs: 300 })).toBe('timed_out');
  });

  it('ends at its time limit if the host never answers the TLS handshake', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const begun = performance.now();
    expect(await reasonOf(open(['127.0.0.1']), url, { timeoutMs: 500 })).toBe('timed_out');
    expect(performance.now() - begun).toBeLessThan(8_000);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('says why there is no response', async () => {
    const closed = await serve((_, response) => response.end());
    await Promise.all(opened.splice(0).map((each) => each.close()));
    const breaking = await serve((request) => request.socket.destroy());
    const http = open(['127.0.0.1']);
    expect(await reasonOf(http, `http://127.0.0.1:${closed}/`)).toBe('unreachable');
    expect(await reasonOf(http, `http://127.0.0.1:${breaking}/`)).toBe('broken_off');
    const plain = await serve((_, response) => response.end());
    expect(await reasonOf(http, `https://127.0.0.1:${plain}/`)).toBe('certificate');
    expect(
      await reasonOf(
        open([], async () => Promise.reject(new Unavailable('the name could not be resolved'))),
        'https://a.example/',
      ),
    ).toBe('unresolved');
  });
});
