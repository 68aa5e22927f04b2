import { describe, expect, it } from 'vitest';
import { type EgressPolicy, readEgressRules, refusalOfAddress, refusalOfName } from '#executors/egress/rules.ts';

function rules(policy: EgressPolicy['policy'], allow: string[] = [], denied: string[] = []) {
  return readEgressRules({ policy, allow, denied });
}

const publicAddresses = [
  '1.1.1.1',
  '93.184.216.34',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
];

const privateAddresses = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '198.18.0.1',
  'fd12:3456::1',
  '192.0.2.1',
  '2001:db8::1',
];

const guardedAddresses = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.1', 'fe80::1', 'febf::1'],
  metadata: ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.255', 'fec0::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254'],
  'IPv4-compatible': ['::127.0.0.1', '::10.0.0.1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
};

const everyGuarded = Object.entries(guardedAddresses).flatMap(([kind, found]) =>
  found.map((address) => [kind, address]),
);

describe('egress policy "internet"', () => {
  it.each(publicAddresses)('reaches the public address %s', (address) => {
    expect(refusalOfAddress(rules('internet'), null, address, 443)).toBeNull();
  });

  it.each([...privateAddresses, '::ffff:10.0.0.1', '::ffff:192.168.1.1'])(
    'refuses the private address %s',
    (address) => {
      expect(refusalOfAddress(rules('internet'), null, address, 443)).toMatch('not public');
      expect(refusalOfAddress(rules('internet'), 'example.org', address, 443)).toMatch('not public');
    },
  );

  it.each(everyGuarded)('refuses the %s address %s, also by name', (_kind, address) => {
    expect(refusalOfAddress(rules('internet'), null, address, 443)).not.toBeNull();
    expect(refusalOfAddress(rules('internet'), 'example.org', address, 443)).not.toBeNull();
  });

  it('reaches a listed private range, by address and by any name', () => {
    const given = rules('internet', ['10.1.0.0/16']);
    expect(refusalOfAddress(given, null, '10.1.2.3', 443)).toBeNull();
    expect(refusalOfAddress(given, 'git.example.org', '10.1.2.3', 443)).toBeNull();
    expect(refusalOfAddress(given, 'git.example.org', '10.2.2.3', 443)).toMatch('not public');
  });

  it('refuses the mail port, except for listed hosts', () => {
    const given = rules('internet', ['smtp.example.org', '1.1.1.1']);
    expect(refusalOfAddress(given, null, '93.184.216.34', 25)).toMatch('port 25');
    expect(refusalOfAddress(given, 'smtp.example.org', '93.184.216.34', 25)).toBeNull();
    expect(refusalOfAddress(given, null, '1.1.1.1', 25)).toBeNull();
  });
});

describe('egress policy "allow"', () => {
  it.each([
    ['registry.opentofu.org', 'registry.opentofu.org'],
    ['Registry.OpenTofu.org.', 'registry.opentofu.org'],
    ['*.example.org', 'a.example.org'],
    ['*.example.org', 'a.b.example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.BÜCHER.example', 'www.xn--bcher-kva.example'],
  ])('the entry %s allows %s to be looked up', (entry, name) => {
    expect(refusalOfName(rules('allow', [entry]), name)).toBeNull();
  });

  it.each([
    ['registry.opentofu.org', 'opentofu.org'],
    ['registry.opentofu.org', 'evil-registry.opentofu.org'],
    ['registry.opentofu.org', 'registry.opentofu.org.evil.example'],
    ['*.example.org', 'example.org'],
    ['*.example.org', 'evilexample.org'],
    ['10.0.0.0/8', 'ten.example.org'],
  ])('the entry %s does not allow %s to be looked up', (entry, name) => {
    expect(refusalOfName(rules('allow', [entry]), name)).toMatch(`does not name ${name}`);
  });

  it.each(privateAddresses)('a listed name may resolve to the private address %s', (address) => {
    expect(refusalOfAddress(rules('allow', ['git.internal']), 'git.internal', address, 443)).toBeNull();
    expect(refusalOfAddress(rules('allow', ['*.internal']), 'git.internal', address, 443)).toBeNull();
    expect(refusalOfAddress(rules('allow', ['git.internal']), null, address, 443)).toMatch('does not have its address');
  });

  it.each(everyGuarded)('a listed name must not resolve to the %s address %s', (_kind, address) => {
    expect(
      refusalOfAddress(rules('allow', ['git.internal', '*.internal']), 'git.internal', address, 443),
    ).not.toBeNull();
  });

  it.each(everyGuarded)('the widest ranges do not allow the %s address %s', (_kind, address) => {
    const given = rules('allow', ['0.0.0.0/0', '::/0', '2000::/3', 'fc00::/7', '100.64.0.0/10']);
    expect(refusalOfAddress(given, null, address, 443)).not.toBeNull();
  });

  it.each([
    ['127.0.0.0/8', '127.0.0.1'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['::1', '::1'],
    ['169.254.0.0/16', '169.254.1.1'],
    ['169.254.169.254', '169.254.169.254'],
    ['fe80::/10', 'fe80::1'],
    ['64:ff9b::/96', '64:ff9b::808:808'],
  ])('the range %s, which lies in a guarded block, allows %s', (entry, address) => {
    expect(refusalOfAddress(rules('allow', [entry]), null, address, 443)).toBeNull();
  });

  it('the link-local range does not allow the metadata service in it', () => {
    expect(refusalOfAddress(rules('allow', ['169.254.0.0/16']), null, '169.254.169.254', 80)).toMatch('metadata');
  });
});

describe("egress to the service's own hosts", () => {
  const parts = ['10.0.0.5', 'db.example.org', '203.0.113.0/24', '1.1.1.1'];

  it('is refused at public addresses, in allowed ranges and by listed names', () => {
    expect(refusalOfAddress(rules('internet', [], parts), null, '1.1.1.1', 443)).toMatch('belongs to the service');
    expect(refusalOfAddress(rules('allow', ['10.0.0.0/8'], parts), null, '10.0.0.5', 5432)).toMatch(
      'belongs to the service',
    );
    expect(refusalOfAddress(rules('allow', ['a.example'], parts), 'a.example', '10.0.0.5', 1)).toMatch(
      'belongs to the service',
    );
    expect(refusalOfName(rules('allow', ['*.example.org'], parts), 'db.example.org')).toMatch('belongs to the service');
    expect(refusalOfName(rules('internet', [], parts), 'db.example.org')).toMatch('belongs to the service');
  });

  it('is allowed if the list contains the same name or address', () => {
    expect(refusalOfAddress(rules('allow', ['10.0.0.5'], parts), null, '10.0.0.5', 5432)).toBeNull();
    expect(refusalOfAddress(rules('internet', ['1.1.1.1/32'], parts), null, '1.1.1.1', 443)).toBeNull();
    expect(refusalOfName(rules('allow', ['db.example.org'], parts), 'db.example.org')).toBeNull();
  });
});

describe('an egress policy', () => {
  it('"none" refuses every name and address, whatever is listed', () => {
    const given = rules('none', ['example.org', '1.1.1.1']);
    expect(refusalOfName(given, 'example.org')).toMatch('"none"');
    expect(refusalOfAddress(given, null, '1.1.1.1', 443)).toMatch('"none"');
  });

  it.each([
    '',
    '*',
    '*.',
    'a b',
    'http://example.org',
    'file:///srv',
    '10.0.0.0/33',
    '127.1',
    '0x7f.1',
    '2130706433',
    'a.example:443',
  ])('an egress policy with the entry %j is refused with a RangeError', (entry) => {
    expect(() => rules('allow', [entry])).toThrow(RangeError);
    expect(() => rules('internet', [], [entry])).toThrow(RangeError);
  });

  it.each(['not an address', '', '1.2.3', 'fe80::1%'])('refuses the invalid resolver answer %j', (address) => {
    expect(refusalOfAddress(rules('internet'), 'example.org', address, 443)).not.toBeNull();
  });
});
