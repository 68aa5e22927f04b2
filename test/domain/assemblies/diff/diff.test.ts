import { describe, expect, it } from 'vitest';
import { diffSpecs } from '#domain/assemblies/diff/diff.ts';

const node = { template: 'vpc' };

describe('a diff', () => {
  it('names added, removed and changed nodes, fields and edges', () => {
    const before = { nodes: { a: { ...node, variables: { r: 1 } }, b: { ...node, depends_on: ['a'] } } };
    const after = {
      nodes: { a: { ...node, variables: { r: 2 } }, c: { ...node, variables: { x: '${nodes.a.outputs.o}' } } },
      concurrency: 3,
    };
    expect(diffSpecs(before, after)).toEqual({
      nodes: [
        { key: 'a', change: 'changed', fields: [{ path: '/variables/r', before: 1, after: 2 }] },
        {
          key: 'b',
          change: 'removed',
          fields: [
            { path: '/template', before: 'vpc' },
            { path: '/depends_on', before: ['a'] },
          ],
        },
        {
          key: 'c',
          change: 'added',
          fields: [
            { path: '/template', after: 'vpc' },
            { path: '/variables', after: { x: '${nodes.a.outputs.o}' } },
          ],
        },
      ],
      fields: [{ path: '/concurrency', after: 3 }],
      edges: { added: [['a', 'c']], removed: [['a', 'b']] },
    });
  });

  it('a spec does not differ from the same one with its defaults written out', () => {
    const full = {
      nodes: { a: { ...node, version: 'latest', instance: 'a', variables: {}, depends_on: [] } },
      variables: { type: 'object', properties: {} },
      outputs: {},
      concurrency: 10,
    };
    expect(diffSpecs({ nodes: { a: node } }, full)).toEqual({
      nodes: [],
      fields: [],
      edges: { added: [], removed: [] },
    });
  });

  it('a node called "constructor" is added and removed like any other', () => {
    const fields = (side: 'before' | 'after') => [{ path: '/template', [side]: 'vpc' }];
    const added = diffSpecs({ nodes: {} }, { nodes: { constructor: node } });
    expect(added.nodes).toEqual([{ key: 'constructor', change: 'added', fields: fields('after') }]);
    const removed = diffSpecs({ nodes: { constructor: node } }, { nodes: {} });
    expect(removed.nodes).toEqual([{ key: 'constructor', change: 'removed', fields: fields('before') }]);
  });

  it('compares invalid drafts as far as they can be read', () => {
    expect(diffSpecs(null, { nodes: { a: 'x', b: { template: 3 } } }).nodes).toEqual([
      { key: 'a', change: 'added', fields: [{ path: '', before: {}, after: 'x' }] },
      { key: 'b', change: 'added', fields: [{ path: '/template', after: 3 }] },
    ]);
  });
});
