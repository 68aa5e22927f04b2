import { describe, expect, it } from 'vitest';
import { compareContents } from '#domain/instances/state/state-comparison.ts';
import type { MaskedAddresses } from '#domain/instances/state-file/shown-resource.ts';
import { learnEarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';

const secret = { sensitive: true };
const state = (...resources: object[]) =>
  stateOf(Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', resources })));
const stateOf = (content: Buffer, maskedAddresses: MaskedAddresses = {}) => ({ content, maskedAddresses });
const subnet = (attributes: object, more: object = {}) => ({
  mode: 'managed',
  type: 'aws_subnet',
  name: 'a',
  instances: [{ attributes, ...more }],
});

describe('a comparison of two states', () => {
  it('lists new, changed and removed resources, and counts the others', () => {
    const zone = { mode: 'managed', type: 'zone', name: 'main', instances: [{ attributes: { id: 'z' } }] };
    const old = { mode: 'managed', type: 'vm', name: 'old', instances: [{ index_key: 'x', attributes: { id: 1 } }] };
    const before = state(zone, subnet({ cidr: '10.0.0.0/24', tags: { Name: 'a', Team: 't' } }), old);
    const after = state(zone, subnet({ cidr: '10.0.1.0/24', tags: { Name: 'a' } }), { ...old, name: 'new' });
    const { changes, omitted, unchanged } = compareContents(before, after);
    expect({ omitted, unchanged }).toEqual({ omitted: 0, unchanged: 1 });
    expect(changes.map(({ address, action }) => [address, action])).toEqual([
      ['aws_subnet.a', 'update'],
      ['vm.new["x"]', 'create'],
      ['vm.old["x"]', 'delete'],
    ]);
    expect(changes[0]?.attributes).toMatchObject([
      { path: ['cidr'], kind: 'changed', before: '10.0.0.0/24', after: '10.0.1.0/24', sensitive: false },
      { path: ['tags', 'Team'], label: 'tags.Team', kind: 'removed', before: 't', after: undefined, sensitive: false },
    ]);
  });

  it('shows a resource with the same id at another address as moved, and not one that several may be', () => {
    const vm = (name: string, id: string, size = 1) => ({
      mode: 'managed',
      type: 'vm',
      name,
      instances: [{ attributes: { id, size } }],
    });
    const before = state(vm('old', 'i-1'), vm('one', 'i-2'), vm('two', 'i-2'), vm('gone', 'i-3'));
    const after = state(vm('new', 'i-1', 2), vm('three', 'i-2'), { ...vm('other', 'i-3'), type: 'disk' });
    const { changes, unchanged } = compareContents(before, after);
    expect(unchanged).toBe(0);
    expect(changes.map(({ address, action, previousAddress }) => [address, action, previousAddress])).toEqual([
      ['disk.other', 'create', null],
      ['vm.gone', 'delete', null],
      ['vm.new', 'move', 'vm.old'],
      ['vm.one', 'delete', null],
      ['vm.three', 'create', null],
      ['vm.two', 'delete', null],
    ]);
    expect(changes[2]?.attributes).toMatchObject([{ path: ['size'], before: 1, after: 2 }]);
    const keyed = (key: string) => ({
      ...vm('keyed', 'i-9'),
      instances: [{ index_key: key, attributes: { id: 'i-9' } }],
    });
    const masked = { '0': { address: 'vm.keyed["[redacted]"]' } };
    const of = (resource: object) => stateOf(state(resource).content, masked);
    const moved = compareContents(of(keyed('alpha-secret')), of(keyed('beta-secret')));
    expect(moved.changes).toMatchObject([{ action: 'move', previousAddress: 'vm.keyed["[redacted]"]' }]);
    expect(JSON.stringify(moved)).not.toMatch(/(alpha|beta)-secret/);
  });

  it('lists the values of outputs that differ, and hides those that one of the states or a newer version calls secret', () => {
    const withOutputs = (outputs: object) =>
      stateOf(Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', resources: [], outputs })));
    const before = {
      cidr: { value: '10.0.0.0/24' },
      old: { value: 'x' },
      key: { value: 'hunter2' },
      late: { value: 'a1' },
    };
    const after = { cidr: { value: '10.0.1.0/24' }, key: { value: 'hunter3', sensitive: true }, late: { value: 'b1' } };
    const { outputs, changes } = compareContents(withOutputs(before), withOutputs(after), ['late']);
    expect(changes).toEqual([]);
    expect(outputs.map(({ label, kind, sensitive }) => [label, kind, sensitive])).toEqual([
      ['cidr', 'changed', false],
      ['key', 'changed', true],
      ['late', 'changed', true],
      ['old', 'removed', false],
    ]);
    expect(JSON.stringify(outputs)).not.toMatch(/hunter|a1|b1/);
  });

  it('says that a sensitive value differs, and not what it is', () => {
    const mark = { sensitive_attributes: [[{ type: 'get_attr', value: 'password' }]] };
    const { changes } = compareContents(
      state(subnet({ password: 'hunter2' }, mark)),
      state(subnet({ password: 'hunter3' }, mark)),
    );
    expect(changes[0]?.attributes).toMatchObject([
      {
        path: ['password'],
        kind: 'changed',
        before: secret,
        after: secret,
        sensitive: true,
        note: 'sensitive, changed',
      },
    ]);
    expect(JSON.stringify(changes)).not.toContain('hunter');
  });

  it('does not show a value that only one of the two states marks as sensitive', () => {
    const mark = {
      sensitive_attributes: [
        [
          { type: 'get_attr', value: 'tags' },
          { type: 'index', value: { value: 'k' } },
        ],
      ],
    };
    const { changes } = compareContents(
      state(subnet({ tags: { k: 'hunter2' } })),
      state(subnet({ tags: { k: 'x' } }, mark)),
    );
    expect(changes[0]?.attributes).toMatchObject([
      { path: ['tags', 'k'], before: secret, after: secret, sensitive: true },
    ]);
    expect(JSON.stringify(changes)).not.toContain('hunter2');
  });

  it('cuts long values around the place where they begin to differ', () => {
    const long = 'v'.repeat(5_000);
    const { changes } = compareContents(state(subnet({ data: `${long}a` })), state(subnet({ data: `${long}b` })));
    expect(changes[0]?.attributes).toMatchObject([
      { truncated: true, before: expect.stringMatching(/v{40}a$/), after: expect.stringMatching(/v{40}b$/) },
    ]);
  });

  it('does not show a whole list or object in which a value is sensitive', () => {
    const steps = ['users', 0, 'password'].map((value) =>
      typeof value === 'number' ? { type: 'index', value: { value, type: 'number' } } : { type: 'get_attr', value },
    );
    const { changes } = compareContents(
      state(),
      state(subnet({ users: [{ name: 'a', password: 'hunter2' }] }, { sensitive_attributes: [steps] })),
    );
    expect(changes[0]?.attributes).toMatchObject([{ after: [{ name: 'a', password: secret }] }]);
    expect(JSON.stringify(changes)).not.toContain('hunter2');
  });

  it('leaves out data sources, and cuts long values and long lists', () => {
    const data = (value: number) => ({
      mode: 'data',
      type: 'aws_ami',
      name: 'latest',
      instances: [{ attributes: { value } }],
    });
    expect(compareContents(state(data(1)), state(data(2))).changes).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'v'.repeat(5_000)]));
    const [change] = compareContents(state(), state(subnet(many))).changes;
    expect([change?.attributes.length, change?.omittedAttributes]).toEqual([200, 300]);
    expect([change?.attributes[0]?.truncated, String(change?.attributes[0]?.after).length < 2_100]).toEqual([
      true,
      true,
    ]);
  });

  it('masks addresses that either state masks, orders them without revealing the secret, and numbers equal ones', () => {
    const keyed = (keys: string[]) => ({
      mode: 'managed',
      type: 'vm',
      name: 'x',
      instances: keys.map((key) => ({ index_key: key, attributes: { n: keys.length } })),
    });
    const mask = 'vm.x["[redacted]"]';
    const before = { ...state(keyed(['a-secret', 'b-plain', 'c-secret'])), maskedAddresses: {} };
    const after = { ...state(keyed(['b-plain', 'c-secret'])), maskedAddresses: { 1: { address: mask } } };
    const masked = { ...before, maskedAddresses: { 0: { address: mask }, 2: { address: `${mask} (2)` } } };
    const listed = (one: typeof before, other: typeof after) =>
      compareContents(one, other).changes.map(({ address, action }) => [address, action]);
    expect(listed(masked, after)).toEqual([
      [mask, 'delete'],
      [`${mask} (2)`, 'update'],
      ['vm.x["b-plain"]', 'update'],
    ]);
    const older = listed(before, after);
    expect(older.map(([address]) => address)).toEqual([mask, 'vm.x["a-secret"]', 'vm.x["b-plain"]']);
  });

  it('redacts values and addresses that contain a secret of the runs, and gives each address another number', () => {
    const redactor = new Redactor();
    learnEarlierSecrets(redactor, { values: ['al-secret"q-1', 'al-secret"q-2'], areTooMany: false });
    const keyed = (...keys: string[]) => ({
      mode: 'managed',
      type: 'vm',
      name: 'x',
      instances: keys.map((key) => ({ index_key: key, attributes: { input: `v:${key}`, map: { [key]: 1 }, n: 1 } })),
    });
    const mask = 'vm.x["[redacted]"]';
    const before = { ...state(keyed('al-secret"q-1')), maskedAddresses: { 0: { address: `${mask} (2)` } } };
    const after = {
      ...state(keyed('al-secret"q-2', 'al-secret"q-1b')),
      maskedAddresses: { 0: { address: `${mask} (2)` } },
    };
    const { changes } = compareContents(before, after, [], redactor);
    expect(JSON.stringify(changes)).not.toContain('al-secret');
    expect(changes.map(({ address }) => address)).toEqual([`${mask} (2)`, `${mask} (3)`, 'vm.x["[redacted]b"]']);
    expect(changes[0]?.attributes).toMatchObject([
      { label: 'input', sensitive: true },
      { label: 'map', sensitive: true },
      { label: 'n', sensitive: false },
    ]);
  });

  it('shows no value if there are more secrets than the redactor looks for', () => {
    const redactor = new Redactor();
    learnEarlierSecrets(redactor, { values: [], areTooMany: true });
    const { changes } = compareContents(state(subnet({ cidr: 'a' })), state(subnet({ cidr: 'b' })), [], redactor);
    expect(changes).toMatchObject([
      { address: '[redacted]', attributes: [{ before: secret, after: secret, note: 'sensitive, changed' }] },
    ]);
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['a list', Buffer.from('[]')],
    ['values that nest too deep', Buffer.from(`{"resources":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)],
    ['an encrypted state', Buffer.from('{"encrypted_data":"x"}')],
  ])('refuses a content that is not a readable state of a tool: %s', (_what, content) => {
    expect(() => compareContents(stateOf(content), state())).toThrow(/can be compared/);
  });

  it('refuses states that are too large to compare here', () => {
    expect(() => compareContents(stateOf(Buffer.alloc(8 * 1024 * 1024 + 1, ' ')), state())).toThrow(/download both/);
  });
});
