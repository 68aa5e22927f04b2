import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, curl, startProxy, startWeb } from './support.ts';

const run = promisify(execFile);

afterEach(closeAll);

describe('a request through the proxy', () => {
  it('reaches an allowed host with curl, by absolute URL and by CONNECT', async () => {
    const web = await startWeb((request, response) => response.end(`hello ${request.url}`));
    const proxy = await startProxy({});
    expect(await curl(proxy.port, `${web.origin}/a?b=c`)).toBe('hello /a?b=c\n200');
    expect(await curl(proxy.port, `${web.origin}/t`, '--proxytunnel')).toBe('hello /t\n200');
    expect(proxy.lines).toEqual([]);
  });

  it('reaches an allowed host with undici, with a large body in both directions', async () => {
    const web = await startWeb((request, response) => request.pipe(response));
    const proxy = await startProxy({});
    const dispatcher = new ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, proxyTunnel: true });
    const body = Buffer.alloc(8 * 1024 * 1024, 'x');
    const answer = await undiciFetch(web.origin, { dispatcher, method: 'POST', body });
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
    await dispatcher.close();
  });

  it('carries uploads of known and unknown length, and a HEAD, to the server', async () => {
    const web = await startWeb(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { 'content-length': length = '-', 'transfer-encoding': encoding = '-' } = request.headers;
      response.end(`${request.method} ${length} ${encoding} ${Buffer.concat(chunks)}`);
    });
    const proxy = await startProxy({});
    expect(await curl(proxy.port, web.origin, '-d', 'abc')).toBe('POST 3 - abc\n200');
    const chunked = ['-H', 'Transfer-Encoding: chunked', '-d', 'abc'];
    expect(await curl(proxy.port, web.origin, ...chunked)).toBe('POST - chunked abc\n200');
    expect(await curl(proxy.port, web.origin, ...chunked, '-X', 'GET')).toBe('GET - chunked abc\n200');
    expect(await curl(proxy.port, web.origin, '-I')).toContain('200 OK');
  });

  it('leaves a sandbox that has only its own loopback, through socat and a unix socket', async ({ skip }) => {
    const sandboxed = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
    if (spawnSync('bwrap', [...sandboxed, 'socat', '-V']).status !== 0) skip('bwrap or socat does not work here');
    const directory = mkdtempSync(join(tmpdir(), 'egress-'));
    const path = join(directory, 'socket');
    const web = await startWeb((_request, response) => response.end('outside'));
    await startProxy({}, {}, path);
    const relay = `socat TCP-LISTEN:8080,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${path} & sleep 0.5`;
    const ask = `curl -sS --max-time 10 ${web.origin}`;
    const script = `${relay}; ${ask} -x http://127.0.0.1:8080; ${ask} -px http://127.0.0.1:8080; ${ask}; kill $!`;
    const { stdout, stderr } = await run('bwrap', [...sandboxed, 'bash', '-c', script]);
    expect(stdout).toBe('outsideoutside');
    expect(stderr).toMatch(/Failed to connect|Couldn't connect/);
    rmSync(directory, { recursive: true });
  });
});
