import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, curl, exchange, startProxy, startTcp } from './support.ts';

afterEach(closeAll);

describe('a refused request', () => {
  it.each([
    ['none', '10.9.9.9:1', 'egress policy is "none"'],
    ['allow', '10.9.9.9:1', "the pool's list does not have its address"],
    ['internet', '10.9.9.9:1', "its address is not public, and the pool's list does not have 10.9.9.9"],
    [
      'internet',
      '127.0.0.1:1',
      'it belongs to the service or to this machine, or COORDINATOR_EXECUTOR_DENIED names it',
    ],
  ] as const)(
    'a refused request under the policy "%s" to %s answers 403 and names the rule',
    async (policy, target, rule) => {
      const proxy = await startProxy({ policy, allow: [] });
      expect(await curl(proxy.port, `http://${target}/`)).toMatch(new RegExp(`^refused: .*${rule}\n\n403$`));
      const tunnel = await exchange(proxy.port, `CONNECT ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
      expect(tunnel).toMatch(new RegExp(`^HTTP/1\\.1 403 refused: .*${rule}\r\n`));
      expect(proxy.lines).toHaveLength(2);
      expect(proxy.lines[0]).toMatch(new RegExp(`^egress to ${target} refused: .*${rule}$`));
    },
  );

  it('a refused request to an unlisted name does not look the name up, because its labels could carry data out', async () => {
    const resolve = vi.fn(async () => ['127.0.0.1']);
    const proxy = await startProxy({ allow: ['a.example', '127.0.0.1'] }, { resolve });
    expect(await curl(proxy.port, 'http://secret.evil.example/')).toContain('does not name secret.evil.example');
    expect(await curl(proxy.port, 'https://secret.evil.example/')).toContain('403');
    expect(resolve).not.toHaveBeenCalled();
  });

  it.each([
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '0',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '[::127.0.0.1]',
    'LOCALHOST',
    '127.0.0.1',
  ])('a refused request to the loopback address written as %s answers 403', async (host) => {
    const web = await startTcp((socket) => socket.end('reached'));
    const proxy = await startProxy({ policy: 'internet', allow: [] });
    const byUrl = await exchange(proxy.port, `GET http://${host}:${web.port}/ HTTP/1.1\r\nhost: a\r\n\r\n`);
    const byTunnel = await exchange(proxy.port, `CONNECT ${host}:${web.port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(byUrl).toMatch(/^HTTP\/1\.1 403 /);
    expect(byTunnel).toMatch(/^HTTP\/1\.1 403 /);
  });

  it.each([
    'CONNECT example.org',
    'CONNECT example.org:0',
    'CONNECT example.org:65536',
    'CONNECT example.org:80:80',
    'CONNECT user@example.org:80',
    'CONNECT example.org%2e:80',
    'CONNECT fe80::1:80',
    'CONNECT [fe80::1%eth0]:80',
    'CONNECT ..:80',
    'GET http://user:hunter2@example.org/',
    'GET https://example.org/',
    'GET ftp://example.org/',
    'GET http://[fe80::1%25eth0]/',
    'GET http:///',
    'GET http://a..b/',
    'GET *',
  ])('a refused request with the malformed target "%s" answers 400, and the log omits the target', async (line) => {
    const proxy = await startProxy({ policy: 'internet' }, { resolve: async () => ['1.1.1.1'] });
    expect(await exchange(proxy.port, `${line} HTTP/1.1\r\nhost: a\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(proxy.lines.join()).not.toContain('hunter2');
  });

  it('does not fill the log: the first 20 are logged and the rest are counted', async () => {
    const proxy = await startProxy({ policy: 'none' });
    for (let index = 0; index < 25; index += 1)
      await exchange(proxy.port, 'CONNECT a.example:1 HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(proxy.lines).toHaveLength(20);
    proxy.close();
    expect(proxy.lines.at(-1)).toBe('egress: 5 more requests were refused or failed');
  });
});
