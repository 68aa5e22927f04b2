import type { Viz } from '@viz-js/viz';
import type { Graph } from './drawing.ts';
import { heightOf, type Layout, type Point, widthOf } from './sizes.ts';

/**
 * Lays graphs out with Graphviz. Graphviz gets only sizes and numbers, never names. Only the positions in its answer are used, and none of
 * its text is written into a page.
 */

const pointsPerInch = 72;

export type Graphviz = Viz;

let engine: Promise<Viz> | undefined;

/** Loads Graphviz once. Only evaluation threads lay out graphs, so other processes do not load its megabyte of code. */
export function loadGraphviz(): Promise<Viz> {
  engine ??= import('@viz-js/viz').then(({ instance }) => instance());
  return engine;
}

export function layOutCarefully(viz: Viz, graph: Graph): Layout {
  return readPlain(viz.renderString(describeGraph(graph), { format: 'plain' }));
}

function describeGraph({ nodes, edges }: Graph) {
  const numbers = new Map(nodes.map(({ key }, index) => [key, String(index)]));
  return {
    directed: true,
    graphAttributes: { rankdir: 'LR', nodesep: 0.3, ranksep: 0.6 },
    nodeAttributes: { shape: 'box', fixedsize: true, label: '' },
    nodes: nodes.map((node, index) => ({
      name: String(index),
      attributes: { width: widthOf(node) / pointsPerInch, height: heightOf(node) / pointsPerInch },
    })),
    // The drawing has arrows of its own. With Graphviz's own arrows, its lines would end too early.
    edgeAttributes: { arrowhead: 'none' },
    edges: edges.map(([from, to]) => ({ tail: numbers.get(from) ?? '', head: numbers.get(to) ?? '' })),
  };
}

/** Graphviz's format `plain`: a line for the graph, for each node and for each edge, in inches from the lower left corner. */
function readPlain(text: string): Layout {
  const middles = new Map<number, Point>();
  const edges: Layout['edges'][number][] = [];
  let [width, height] = [0, 0];
  for (const [kind, ...fields] of text.split('\n').map((line) => line.split(' '))) {
    const numbers = fields.map(Number);
    const points = (index: number) => (numbers[index] ?? 0) * pointsPerInch;
    const pointAt = (index: number) => ({ x: points(index), y: height - points(index + 1) });
    if (kind === 'graph') [width, height] = [points(1), points(2)];
    if (kind === 'node') middles.set(numbers[0] ?? -1, pointAt(1));
    if (kind !== 'edge') continue;
    const [from = -1, to = -1, count = 0] = numbers;
    edges.push({ from, to, points: Array.from({ length: count }, (_, index) => pointAt(3 + 2 * index)) });
  }
  return { width, height, middles, edges };
}
