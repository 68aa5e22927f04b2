import type { Graph } from './drawing.ts';
import { heightOf, type Layout, type Point, widthOf } from './sizes.ts';

/** A simple layout in columns from left to right. Its time grows only with the numbers of nodes and edges. */

export interface Columns {
  /** The numbers of the nodes in each column, from above. */
  readonly members: readonly (readonly number[])[];
  /** How many columns the edges cross altogether. */
  readonly crossed: number;
}

/** Puts each node to the right of all that it waits for. In a cycle, the node that is first in the graph is placed first. */
export function placeInColumns(graph: Graph): Columns {
  const edges = numberEdges(graph);
  const columns = findColumns(graph.nodes.length, edges);
  const crossed = edges.reduce((sum, [from, to]) => sum + Math.abs((columns[to] ?? 0) - (columns[from] ?? 0)), 0);
  return { members: sortColumns(columns, edges), crossed };
}

const gap = { x: 64, y: 20 };

export function layOutSimply(graph: Graph, { members }: Columns): Layout {
  const { nodes } = graph;
  const middles = new Map<number, Point>();
  let [left, height] = [0, 0];
  for (const column of members) {
    const width = Math.max(...column.map((number) => sizeOf(number).width));
    let top = 0;
    for (const number of column) {
      middles.set(number, { x: left + width / 2, y: top + sizeOf(number).height / 2 });
      top += sizeOf(number).height + gap.y;
    }
    left += width + gap.x;
    height = Math.max(height, top - gap.y);
  }
  const edges = numberEdges(graph).map(([from, to]) => ({ from, to, points: curve(from, to) }));
  return { width: Math.max(0, left - gap.x), height, middles, edges };

  function sizeOf(number: number) {
    const node = nodes[number];
    return node ? { width: widthOf(node), height: heightOf(node) } : { width: 0, height: 0 };
  }

  /** From the right side of one node to the left side of the other. */
  function curve(from: number, to: number): Point[] {
    const [tail, head] = [middles.get(from) ?? { x: 0, y: 0 }, middles.get(to) ?? { x: 0, y: 0 }];
    const start = { x: tail.x + sizeOf(from).width / 2, y: tail.y };
    const end = { x: head.x - sizeOf(to).width / 2, y: head.y };
    const bend = gap.x / 2;
    return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
  }
}

type NumberedEdge = readonly [from: number, to: number];

function numberEdges({ nodes, edges }: Graph): NumberedEdge[] {
  const numbers = new Map(nodes.map(({ key }, index) => [key, index]));
  return edges.map(([from, to]) => [numbers.get(from) ?? 0, numbers.get(to) ?? 0] as const);
}

function findColumns(count: number, edges: readonly NumberedEdge[]): number[] {
  const columns = Array.from({ length: count }, () => 0);
  const missing = columns.slice();
  const after = columns.map((): number[] => []);
  for (const [from, to] of edges) {
    after[from]?.push(to);
    missing[to] = (missing[to] ?? 0) + 1;
  }
  const placed = new Set<number>();
  const ready = [...columns.keys()].filter((number) => missing[number] === 0);
  for (let next = 0; placed.size < count; ) {
    const number = ready.shift() ?? next++;
    if (placed.has(number)) continue;
    placed.add(number);
    for (const other of after[number] ?? []) {
      missing[other] = (missing[other] ?? 0) - 1;
      if (!placed.has(other)) columns[other] = Math.max(columns[other] ?? 0, (columns[number] ?? 0) + 1);
      if (missing[other] === 0) ready.push(other);
    }
  }
  return columns;
}

/** Orders each column by the positions of the nodes that its nodes wait for, so that fewer edges cross each other. */
function sortColumns(columns: readonly number[], edges: readonly NumberedEdge[]): number[][] {
  const sorted: number[][] = Array.from({ length: Math.max(0, ...columns) + 1 }, () => []);
  for (const [number, column] of columns.entries()) sorted[column]?.push(number);
  const before = columns.map((): number[] => []);
  for (const [from, to] of edges) before[to]?.push(from);
  const places = new Map<number, number>();
  for (const column of sorted) {
    const weights = new Map(
      column.map((number) => [number, mean((before[number] ?? []).map((other) => places.get(other) ?? 0))]),
    );
    column.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
    for (const [index, number] of column.entries()) places.set(number, index);
  }
  return sorted.filter((column) => column.length > 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
