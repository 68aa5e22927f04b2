import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, curl, exchange, openRaw, startProxy, startTcp, startWeb } from './support.ts';

afterEach(closeAll);

describe('a request', () => {
  const both = 'content-length: 4\r\ntransfer-encoding: chunked';

  it.each([
    ['two kinds of length', both],
    ['two lengths', 'content-length: 4\r\ncontent-length: 5'],
    ['an unknown encoding', 'transfer-encoding: gzip'],
    ['two encodings', 'transfer-encoding: gzip, chunked'],
    ['an obscured encoding', 'transfer-encoding : chunked'],
    ['a folded header', 'x: a\r\n b: c'],
  ])('a request with %s answers 400 and does not reach the server', async (_title, headers) => {
    const arrived: string[] = [];
    const server = await startTcp((socket) => {
      socket.on('data', (data) => arrived.push(String(data)));
    });
    const proxy = await startProxy({});
    const head = `POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`;
    expect(await exchange(proxy.port, `${head}0\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(arrived).toEqual([]);
  });

  it('followed by a pipelined one is served alone, and the connection closes', async () => {
    const web = await startWeb((request, response) => response.end(`saw ${request.url}`));
    const proxy = await startProxy({});
    const ask = (path: string) => `GET ${web.origin}${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
    const answer = await exchange(proxy.port, ask('/first') + ask('/second'));
    expect(answer).toContain('saw /first');
    expect(answer).not.toContain('saw /second');
  });

  it('loses its connection headers, and so does the answer', async () => {
    const web = await startWeb((request, response) => {
      response.setHeader('connection', 'x-answer-hop');
      response.setHeader('x-answer-hop', '1');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify(request.rawHeaders));
    });
    const proxy = await startProxy({});
    const hops =
      'connection: keep-alive, X-Hop\r\nx-hop: 1\r\nproxy-authorization: Basic c2VjcmV0\r\nte: trailers\r\nupgrade: websocket\r\n';
    const answer = await exchange(proxy.port, `GET ${web.origin}/ HTTP/1.1\r\nhost: evil\r\n${hops}x-kept: 1\r\n\r\n`);
    const seen = JSON.parse(answer.slice(answer.indexOf('['), answer.lastIndexOf(']') + 1));
    expect(seen).toEqual(['host', `127.0.0.1:${web.port}`, 'connection', 'close', 'x-kept', '1']);
    expect(answer).not.toContain('x-answer-hop');
    expect(answer).toMatch(/set-cookie: a=1\r\nset-cookie: b=2/);
  });

  it('a request with huge headers answers 431', async () => {
    const proxy = await startProxy({});
    const head = `GET http://127.0.0.1:1/ HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17 * 1024)}\r\n\r\n`;
    expect(await exchange(proxy.port, head)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('a request whose headers never end is cut off after the time limit', async () => {
    const proxy = await startProxy({});
    proxy.server.headersTimeout = 200;
    const client = openRaw(proxy.port);
    client.socket.write('GET http://127.0.0.1:1/ HTTP/1.1\r\nx: ');
    client.socket.on('end', () => client.socket.destroy());
    expect(await client.closed).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('a request whose answer is cut short is cut short for the client too', async () => {
    const server = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'));
    });
    const proxy = await startProxy({});
    expect(await curl(proxy.port, `http://127.0.0.1:${server.port}/`)).toMatch(/curl: \((18|52|56)\)/);
  });
});
