import { describe, expect, test } from 'vitest';
import { maxResources, readStateFile, readStateFileInTurns } from '#domain/instances/state-file/state-file.ts';

const dollar = '$';
const provider = 'provider["registry.opentofu.org/hashicorp/aws"].west';
const resource = (name: string, instances: object[], more: object = {}) => ({
  mode: 'managed',
  type: 'aws_subnet',
  name,
  provider,
  instances,
  ...more,
});
const read = (state: unknown) => readStateFile(Buffer.from(JSON.stringify(state)));
const ofTool = (...resources: unknown[]) => read({ version: 4, serial: 7, lineage: 'a', resources });

describe('the resources of a state', () => {
  test('have the addresses that the tool shows, one for each instance of count and for_each', () => {
    const { kind, resources, resourceCount } = ofTool(
      resource('one', [{ attributes: { password: 'secret' } }]),
      resource('counted', [{ index_key: 0 }, { index_key: 1 }]),
      resource('each', [{ index_key: `a "quoted" ${dollar}{b} %{c}` }], { module: 'module.net["x"].module.inner' }),
      resource('replaced', [{}, { deposed: '8a7b6c5d' }]),
      resource('read', [{}], { mode: 'data' }),
    );
    expect({ kind, resourceCount }).toEqual({ kind: 'tool', resourceCount: 6 });
    expect(resources.map(({ address }) => address)).toEqual([
      'aws_subnet.one',
      'aws_subnet.counted[0]',
      'aws_subnet.counted[1]',
      `module.net["x"].module.inner.aws_subnet.each["a \\"quoted\\" ${dollar}${dollar}{b} %%{c}"]`,
      'aws_subnet.replaced',
      'aws_subnet.replaced (deposed object 8a7b6c5d)',
    ]);
    expect(resources[3]).toEqual({
      address: `module.net["x"].module.inner.aws_subnet.each["a \\"quoted\\" ${dollar}${dollar}{b} %%{c}"]`,
      module: 'module.net["x"].module.inner',
      type: 'aws_subnet',
      name: 'each',
      provider: 'registry.opentofu.org/hashicorp/aws',
    });
  });

  test('are listed whatever the order of the members, and without their attributes', () => {
    const state =
      '{"resources":[{"instances":[{"attributes":{"a":1}}],"name":"n","type":"t","mode":"managed"}],"lineage":"a","version":4}';
    const { resources } = readStateFile(Buffer.from(state));
    expect(resources).toEqual([{ address: 't.n', module: null, type: 't', name: 'n', provider: null }]);
  });

  test('fit their columns, whatever wrote the state', () => {
    const { resources } = ofTool(
      resource('nul\0', [{ index_key: 'a' }]),
      resource('long', [{ index_key: `${'k'.repeat(9000)}1` }, { index_key: `${'k'.repeat(9000)}2` }]),
      resource('n'.repeat(300), [{}]),
    );
    expect(resources.every(({ address, name }) => address.length <= 4096 && name.length <= 255)).toBe(true);
    expect(new Set(resources.map(({ address }) => address)).size).toBe(4);
    expect(resources.some(({ address, name }) => `${address}${name}`.includes('\0'))).toBe(false);
  });

  test('beyond the limit are counted and not listed', () => {
    const { resources, resourceCount } = ofTool(
      resource(
        'many',
        Array.from({ length: maxResources + 5 }, (_, index_key) => ({ index_key })),
      ),
      resource('more', [{}]),
    );
    expect([resources.length, resourceCount]).toEqual([maxResources, maxResources + 6]);
  });
});

describe('the metadata of a state', () => {
  test('keeps every digit of the serial', () => {
    const { serial, version, lineage } = readStateFile(
      Buffer.from('{"version":4,"serial":9007199254740993,"lineage":"b-\\u00e9"}'),
    );
    expect({ serial, version, lineage }).toEqual({ serial: '9007199254740993', version: '4', lineage: 'b-é' });
  });

  test("distinguishes a tool's state, an encrypted state, an empty state and other JSON", () => {
    const kindOf = (state: unknown) => {
      const { kind, isEmpty } = read(state);
      return [kind, isEmpty];
    };
    expect(kindOf({ version: 4, serial: 1, lineage: 'a' })).toEqual(['tool', false]);
    expect(kindOf({ serial: 1, lineage: 'a', encrypted_data: 'x' })).toEqual(['encrypted', false]);
    expect(kindOf({})).toEqual(['other', true]);
    expect(kindOf({ created: true })).toEqual(['other', false]);
    expect(kindOf([1])).toEqual(['other', false]);
  });

  test.each([
    ['two lists of resources', '{"resources":[],"resources":[]}', 'resources: expected the member once'],
    ['resources that are no list', '{"resources":{}}', 'resources: expected a list'],
    ['a resource that is no object', '{"resources":[1]}', 'resources: expected objects in the list'],
    [
      'an address twice',
      JSON.stringify({ resources: [resource('a', [{}, {}])] }),
      'resources: expected each address once',
    ],
    [
      'a resource without a name',
      '{"resources":[{"type":"t","instances":[{}]}]}',
      'resources: expected a type and a name of each',
    ],
  ])('reports %s as a problem', (_what, text, problem) => {
    expect(readStateFile(Buffer.from(text)).problem).toBe(problem);
  });

  test.each([
    ['cut JSON', Buffer.from('{"version":4')],
    ['more behind it', Buffer.from('{} {}')],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('is refused with %s', (_what, content) => {
    expect(() => readStateFile(content)).toThrow(/^expected/);
  });
});

describe('reading a large state in slices', () => {
  test('counts all resources, never blocks the process for long, and uses little memory', async () => {
    const attributes = { text: 'x'.repeat(2100), list: [1, 2, 3, { deep: ['y'] }] };
    const resources = Array.from({ length: 30 }, (_, at) =>
      resource(
        `r${at}`,
        Array.from({ length: 1000 }, (_each, index_key) => ({ index_key, attributes })),
      ),
    );
    const content = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', resources }));
    expect(content.length).toBeGreaterThan(60 * 1024 * 1024);
    const began = performance.now();
    let [longest, last] = [0, began];
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    last = performance.now();
    const { resourceCount } = await readStateFileInTurns(content);
    clearInterval(watch);
    expect(resourceCount).toBe(30_000);
    // Reading blocks the process only for a small part of its duration.
    expect(longest).toBeLessThan(Math.max(250, (performance.now() - began) / 4));
  });
});
