import { describe, expect, it } from 'vitest';
import { chooseNodes } from '#domain/assemblies/drawing/choice.ts';
import { layOut } from '#domain/assemblies/drawing/layout.ts';
import { renderGraphSvg } from '#domain/assemblies/drawing/svg.ts';

const keys = Array.from({ length: 1_412 }, (_, index) => `n${index}`);
const nodes = keys.map((key) => ({ key, label: key }));
const chain = { nodes, edges: keys.slice(1).map((key, index): [string, string] => [`n${index}`, key]) };

describe('a drawing', () => {
  it('shows hostile names as text, and leaves foreign addresses out', async () => {
    const hostile = '"><script>alert(1)</script>\u0001';
    const drawing = await layOut({ nodes: [{ key: hostile, label: hostile, detail: hostile }], edges: [] });
    const look = {
      class: hostile,
      word: hostile,
      href: 'javascript:alert(1)',
      icon: '//evil.example/x',
      title: hostile,
    };
    const svg = renderGraphSvg(drawing, () => look);
    expect(svg).not.toMatch(/<script|javascript:|evil\.example|\u0001|style=/);
    expect(svg).toContain('&lt;script&gt;');
  });

  it('shows the state of each node by a label and a border, and links the node', async () => {
    const drawing = await layOut({ nodes: nodes.slice(0, 2), edges: [['n0', 'n1']] });
    const svg = renderGraphSvg(drawing, (key) => ({
      class: key === 'n0' ? 'failed' : 'skipped',
      word: `is ${key}`,
      href: `/runs/${key}`,
    }));
    expect(svg).toContain('graph-border-inner');
    expect(svg).toContain('stroke-dasharray');
    expect(svg).toContain('href="/runs/n1"');
    expect(svg).toContain('2 nodes: 1 is n0, 1 is n1');
    expect(svg).toContain('<title>n0 → n1</title>');
  });

  it('a dense graph, or one with a cycle, is drawn in little time and leads from left to right', async () => {
    const some = nodes.slice(0, 200);
    const edges = some.flatMap(({ key }, index) =>
      some.slice(index + 1, index + 6).map((other): [string, string] => [key, other.key]),
    );
    const { nodes: drawn } = await layOut({ nodes: some, edges: edges.slice(0, 1_000) });
    const left = new Map(drawn.map(({ key, x }) => [key, x]));
    expect(edges.every(([from, to]) => (left.get(from) ?? 0) < (left.get(to) ?? 0))).toBe(true);
    await layOut({
      nodes: some.slice(0, 2),
      edges: [
        ['n0', 'n1'],
        ['n1', 'n0'],
        ['n0', 'n0'],
      ],
    });
  });

  it('a drawing of too many nodes shows those that need attention with their neighbours', async () => {
    await expect(layOut(chain)).rejects.toThrow(/at most 200 nodes/);
    const { graph, caption } = chooseNodes(chain, { n700: 'failed', n900: 'running' });
    expect(caption).toBe('200 of 1,412 nodes');
    expect(graph.nodes.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['n699', 'n700', 'n701', 'n899', 'n900', 'n901']),
    );
    expect((await layOut(graph)).nodes).toHaveLength(200);
  });
});
