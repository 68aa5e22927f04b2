import { describe, expect, it } from 'vitest';
import { checkOutbound } from '#domain/shared/outbound/outbound.ts';
import { isOutboundEntry, parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';

/** Allows only public addresses. */
const publicOnly = parseOutboundPolicy([]);

const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses;

const publicAddress = resolvesTo('93.184.215.14');

async function refusal(url: string, options: Parameters<typeof checkOutbound>[2] = {}, allow: string[] = []) {
  const outcome = await checkOutbound(url, parseOutboundPolicy(allow), { resolve: publicAddress, ...options }).then(
    () => 'allowed',
    (error: Error) => error.message,
  );
  return outcome;
}

describe('an outbound URL', () => {
  it('resolves to every address that was checked', async () => {
    const resolve = resolvesTo('93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c');
    const { url, addresses } = await checkOutbound('https://EXAMPLE.com:8443/x', publicOnly, { resolve });
    expect(url.href).toBe('https://example.com:8443/x');
    expect(addresses).toEqual(['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']);
  });

  it.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.2.1',
    '240.0.0.1',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    '::1%lo',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    'fec0::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '::ffff:0:127.0.0.1',
    '2001:db8::1',
    '100::1',
    '4000::1',
  ])('an outbound URL whose name resolves to %s is refused', async (address) => {
    expect(await refusal('https://rebind.example/', { resolve: resolvesTo(address) })).toMatch(/not on the public/);
  });

  it('is refused if even one of its addresses is private', async () => {
    expect(await refusal('https://mixed.example/', { resolve: resolvesTo('93.184.215.14', '10.0.0.1') })).toMatch(
      /not on the public network/,
    );
  });

  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://１２７.0.0.1/',
    'https://localhost./',
  ])('an outbound URL that spells loopback as %s is refused', async (url) => {
    const resolve = async (host: string) => (host.startsWith('localhost') ? ['127.0.0.1'] : ['93.184.215.14']);
    expect(await refusal(url, { resolve })).toMatch(/not on the public network/);
  });

  it('is resolved by the system by default', async () => {
    await expect(checkOutbound('https://localhost/', publicOnly)).rejects.toThrow(/not on the public network/);
  });

  it.each([
    'ext::sh -c touch% /tmp/x',
    'ftp://example.com/',
    'ssh://example.com/x',
    'javascript://example.com/%0aalert(1)',
    'https://',
    'https:example.com',
    'example.com/x',
    '//example.com/x',
    '-oProxyCommand=x',
    '--upload-pack=touch /tmp/x',
    'https://exa mple.com/',
    '',
  ])('%j is refused for its form', async (url) => {
    expect(await refusal(url)).toBe('expected a URL that starts with https:// and a host');
  });

  it('an outbound URL with credentials is refused, and the message does not repeat them', async () => {
    const message = await refusal('https://ana:hunter2@example.com/');
    expect(message).toMatch(/belong in a connection/);
    expect(message).not.toContain('hunter2');
    expect(await refusal('ssh://git:hunter2@example.com/', { schemes: ['ssh'] })).toMatch(/belong in a connection/);
    expect(await refusal('ssh://git@example.com/', { schemes: ['ssh'] })).toBe('allowed');
  });

  it('may be unencrypted only for a host that the operator allowed', async () => {
    expect(await refusal('http://example.com/')).toMatch(/not encrypted: use https/);
    expect(await refusal('http://example.com/', {}, ['example.com'])).toBe('allowed');
    expect(await refusal('http://127.0.0.1:3000/', {}, ['127.0.0.0/8'])).toBe('allowed');
    expect(await refusal('http://127.0.0.1:3000/', {}, ['10.0.0.0/8'])).toMatch(/not on the public network/);
  });

  it('may go to a private host or range that the operator allowed, and to no other', async () => {
    const resolve = resolvesTo('10.1.2.3');
    expect(await refusal('https://git.internal/', { resolve }, ['git.internal'])).toBe('allowed');
    expect(await refusal('https://GIT.internal./', { resolve }, ['Git.Internal'])).toBe('allowed');
    expect(await refusal('https://git.internal/', { resolve }, ['10.1.0.0/16'])).toBe('allowed');
    expect(await refusal('https://a.corp.example/', { resolve }, ['*.corp.example'])).toBe('allowed');
    expect(await refusal('https://corp.example/', { resolve }, ['*.corp.example'])).toMatch(/not on the public/);
    expect(await refusal('https://evilcorp.example/', { resolve }, ['*.corp.example'])).toMatch(/not on the public/);
    expect(await refusal('https://git.internal.evil/', { resolve }, ['git.internal'])).toMatch(/not on the public/);
    // A Cyrillic letter that looks like an i.
    expect(await refusal('https://g\u0456t.internal/', { resolve }, ['git.internal'])).toMatch(/not on the public/);
    expect(await refusal('https://git.internal/', { resolve }, ['10.2.0.0/16', '::/0'])).toMatch(/not on the public/);
  });

  it('may name only a directory below one that the operator allowed', async () => {
    const schemes = ['https', 'file'] as const;
    const allow = ['file:///srv/templates/'];
    expect(await refusal('file:///srv/templates/network', { schemes }, allow)).toBe('allowed');
    for (const url of [
      'file:///srv/templates-private',
      'file:///srv/templates/../secrets',
      'file:///srv/templates/%2e%2e/secrets',
      'file:///srv/templates/..%2fsecrets',
      'file://host/srv/templates',
      'file:///',
    ]) {
      expect(await refusal(url, { schemes }, allow)).toMatch(/file:\/\/ is for development/);
    }
    expect(await refusal('file:///srv/templates', {}, allow)).toMatch(/expected a URL that starts with https/);
  });

  it('an outbound URL of an unknown host is refused', async () => {
    await expect(checkOutbound('https://nowhere.invalid/', publicOnly)).rejects.toThrow(
      /nowhere\.invalid (does not exist|could not be resolved)/,
    );
  });
});

describe('an entry of the outbound setting', () => {
  it.each([
    '10.0.0.0/8',
    '127.0.0.1',
    '::1',
    'fd00::/8',
    'git.internal',
    '*.corp.example',
    'file:///srv/x',
    'localhost',
  ])('%s is understood', (entry) => {
    expect(isOutboundEntry(entry)).toBe(true);
  });

  it.each(['', '10.0.0.0/33', '*', 'https://example.com', 'a b', 'file://host/x', 'exa_mple', '-x', '10.0.0.0/-1'])(
    '%j is refused',
    (entry) => {
      expect(isOutboundEntry(entry)).toBe(false);
      expect(() => parseOutboundPolicy([entry])).toThrow(RangeError);
    },
  );
});
