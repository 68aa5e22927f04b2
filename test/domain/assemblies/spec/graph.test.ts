import { describe, expect, it } from 'vitest';
import { dependenciesOf, findCycles, topologicalOrder } from '#domain/assemblies/spec/graph.ts';
import { AssemblySpec } from '#domain/assemblies/spec/spec.ts';
import { Random } from '#test/support/pages/random.ts';

type Graph = Map<string, Set<string>>;

/** Nodes that depend only on nodes before them. */
function randomDag(random: Random, size: number): Graph {
  const keys = Array.from({ length: size }, (_, index) => `n${index}`);
  return new Map(
    keys.map((key, index) => [key, new Set(random.some(keys.slice(0, index), random.between(0, Math.min(3, index))))]),
  );
}

describe('dependencies', () => {
  it('a node depends on the existing nodes that its references, its condition and its depends_on name', () => {
    const template = 'x';
    const spec = AssemblySpec.parse({
      nodes: {
        a: { template },
        'b-b': { template },
        c: { template, depends_on: ['a', 'zzz'] },
        d: { template, variables: { x: ['in ${nodes.a.outputs.o}'] }, when: 'nodes["b-b"].status == "skipped"' },
        e: { template, when: 'nodes.d.outputs.ok && has(nodes.c.outputs.x)' },
      },
    });
    expect(Object.fromEntries([...dependenciesOf(spec)].map(([key, needed]) => [key, [...needed].sort()]))).toEqual({
      a: [],
      'b-b': [],
      c: ['a'],
      d: ['a', 'b-b'],
      e: ['c', 'd'],
    });
  });
});

describe('cycles', () => {
  it('a graph whose nodes depend on earlier ones has no cycle', () => {
    const random = new Random(1);
    for (let round = 0; round < 200; round++) {
      const dag = randomDag(random, random.between(1, 40));
      expect(findCycles(dag)).toEqual([]);
      const order = topologicalOrder(dag);
      expect([...order].sort()).toEqual([...dag.keys()].sort());
      for (const [key, needed] of dag) {
        for (const other of needed) expect(order.indexOf(other)).toBeLessThan(order.indexOf(key));
      }
    }
  });

  it('a cycle is found wherever an edge leads back, and each step that it names is an edge', () => {
    const random = new Random(2);
    for (let round = 0; round < 200; round++) {
      const graph = randomDag(random, random.between(2, 30));
      const [first = ''] = graph.keys();
      const last = [...graph.keys()].at(-1) ?? '';
      graph.get(last)?.add(first);
      graph.get(first)?.add(last);
      const cycles = findCycles(graph);
      expect(cycles.length).toBeGreaterThan(0);
      for (const cycle of cycles) {
        for (const [index, key] of cycle.entries()) {
          expect(graph.get(key)?.has(cycle[(index + 1) % cycle.length] ?? '')).toBe(true);
        }
      }
      expect(() => topologicalOrder(graph)).toThrow(/cycle/);
    }
  });

  it('finds a node that depends on itself, and two cycles that are apart from each other', () => {
    const graph: Graph = new Map([
      ['a', new Set(['a'])],
      ['b', new Set(['c'])],
      ['c', new Set(['b', 'a'])],
    ]);
    expect(findCycles(graph)).toEqual([['a'], ['b', 'c']]);
  });

  it('finds the cycle of a chain of 1,000 nodes without recursion', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
    const chain: Graph = new Map(keys.map((key, index) => [key, new Set([keys[(index + 1) % 1_000] ?? ''])]));
    expect(findCycles(chain)).toEqual([keys]);
  });
});
