import { connect as connectSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, curl, exchange, startProxy, startWeb } from './support.ts';

afterEach(closeAll);

describe('a host name', () => {
  /** Public addresses are replaced by a test server; `dialled` records the addresses that would have been used. */
  async function startNamed(answers: string[][], policy = {}) {
    const web = await startWeb((request, response) => response.end(`host ${request.headers.host}`));
    const dialled: string[][] = [];
    const asked: string[] = [];
    const proxy = await startProxy(
      { policy: 'internet', allow: [], ...policy },
      {
        resolve: async (name) => {
          asked.push(name);
          return answers[Math.min(asked.length, answers.length) - 1] ?? [];
        },
        connect: async (addresses) => {
          dialled.push([...addresses]);
          return connectSocket({ port: web.port, host: '127.0.0.1', allowHalfOpen: true });
        },
      },
    );
    return { proxy, dialled, asked };
  }

  it('is resolved once, and the checked address is dialled', async () => {
    const { proxy, dialled, asked } = await startNamed([['93.184.216.34', '2606:4700::1111'], ['127.0.0.1']]);
    expect(await curl(proxy.port, 'http://Rebind.EXAMPLE./')).toMatch(/\n200$/);
    expect(asked).toEqual(['rebind.example']);
    expect(dialled).toEqual([['93.184.216.34', '2606:4700::1111']]);
  });

  it('a host name that later resolves to a private address is refused from then on', async () => {
    const { proxy, dialled } = await startNamed([['93.184.216.34'], ['127.0.0.1'], ['10.0.0.1']]);
    expect(await curl(proxy.port, 'http://rebind.example/')).toMatch(/\n200$/);
    expect(await curl(proxy.port, 'http://rebind.example/')).toMatch(/\n403$/);
    expect(await curl(proxy.port, 'https://rebind.example/')).toMatch('403');
    expect(dialled).toHaveLength(1);
  });

  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['10.0.0.1', '93.184.216.34']],
    [['93.184.216.34', '::ffff:169.254.169.254']],
    [['2002:7f00:1::', '93.184.216.34']],
    [['93.184.216.34', 'nonsense']],
  ])('a host name with the addresses %j is refused as a whole', async (answers) => {
    const { proxy, dialled } = await startNamed([answers]);
    expect(await curl(proxy.port, 'http://mixed.example/')).toMatch(/\n403$/);
    expect(dialled).toEqual([]);
  });

  it('a host name that does not exist, or whose name server fails, answers 502', async () => {
    const { proxy } = await startNamed([[]]);
    expect(await curl(proxy.port, 'http://missing.example/')).toMatch(/the name does not exist\n\n502$/);
    const failing = await startProxy({ policy: 'internet' }, { resolve: () => Promise.reject(new Error('SERVFAIL')) });
    expect(await curl(failing.port, 'http://missing.example/')).toMatch(/could not be resolved.*\n\n502$/);
  });

  it('a host name whose name server never answers times out with 504', async () => {
    const options = { resolve: () => new Promise<string[]>(() => {}), limits: { connectMs: 200 } };
    const proxy = await startProxy({ policy: 'internet' }, options);
    expect(await curl(proxy.port, 'http://slow.example/')).toMatch(/did not answer in time\n\n504$/);
    expect(proxy.lines).toEqual(['egress to slow.example:80 failed: it did not answer in time']);
  });

  it('a host name in the URL decides the destination and the Host header', async () => {
    const { proxy, asked } = await startNamed([['93.184.216.34']], { policy: 'allow', allow: ['good.example'] });
    const answer = await exchange(proxy.port, 'GET http://good.example:81/ HTTP/1.1\r\nhost: evil.example\r\n\r\n');
    expect(answer).toContain('host good.example:81');
    expect(asked).toEqual(['good.example']);
  });

  it('a host name in /etc/hosts is found there, and checked like any other', async () => {
    const proxy = await startProxy({ policy: 'internet', allow: [] });
    expect(await curl(proxy.port, 'http://localhost:1/')).toMatch(/refused: .*\n\n403$/);
  });

  it('a host name that was checked is not looked up again for the connection', async () => {
    const web = await startWeb((_request, response) => response.end('pinned'));
    const proxy = await startProxy({}, { resolve: async () => ['127.0.0.1'] });
    const listed = await startProxy(
      { allow: ['127.0.0.1', 'nowhere.invalid'] },
      { resolve: async () => ['127.0.0.1'] },
    );
    expect(await curl(listed.port, `http://nowhere.invalid:${web.port}/`)).toBe('pinned\n200');
    expect(await curl(proxy.port, `http://nowhere.invalid:${web.port}/`)).toMatch(/\n403$/);
  });
});
