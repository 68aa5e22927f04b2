import { describe, expect, it } from 'vitest';
import { compareContents } from '#domain/instances/state-comparison.ts';

const state = (...resources: object[]) =>
  Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', resources }));
const subnet = (attributes: object, more: object = {}) => ({
  mode: 'managed',
  type: 'aws_subnet',
  name: 'a',
  instances: [{ attributes, ...more }],
});

describe('a comparison of two states', () => {
  it('tells new, changed and gone resources, and counts the others', () => {
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
    expect(changes[0]?.attributes).toEqual([
      { path: 'cidr', before: '"10.0.0.0/24"', after: '"10.0.1.0/24"', sensitive: false },
      { path: 'tags.Team', before: '"t"', after: null, sensitive: false },
    ]);
  });

  it('says that a sensitive value differs, and not what it is', () => {
    const mark = { sensitive_attributes: [[{ type: 'get_attr', value: 'password' }]] };
    const { changes } = compareContents(
      state(subnet({ password: 'hunter2' }, mark)),
      state(subnet({ password: 'hunter3' }, mark)),
    );
    expect(changes[0]?.attributes).toEqual([{ path: 'password', before: null, after: null, sensitive: true }]);
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
    expect(changes[0]?.attributes).toEqual([{ path: 'tags.k', before: null, after: null, sensitive: true }]);
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
    expect(change?.attributes[0]?.after?.length).toBeLessThan(2_100);
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['a list', Buffer.from('[]')],
    ['an encrypted state', Buffer.from('{"encrypted_data":"x"}')],
  ])('refuses what no tool wrote in the clear: %s', (_what, content) => {
    expect(() => compareContents(content, state())).toThrow(/can be compared/);
  });

  it('refuses states that are too large to compare here', () => {
    expect(() => compareContents(Buffer.alloc(8 * 1024 * 1024 + 1, ' '), state())).toThrow(/download both/);
  });
});
