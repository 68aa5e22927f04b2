import type { Graph, GraphNode } from './drawing.ts';

/** A graph in which one node may represent many, and the keys of the represented nodes by its key. */
export interface FoldedGraph {
  readonly graph: Graph;
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** The maximum number of nodes in the same position that are drawn one by one. */
const maxAlike = 12;

/**
 * Combines nodes that wait for the same nodes and for which the same nodes wait, if there are many of them. Separate drawings of these
 * nodes would tell no more than their number. There are no edges between such nodes.
 */
export function foldGroups({ nodes, edges }: Graph, max = maxAlike): FoldedGraph {
  const places = new Map(nodes.map(({ key }) => [key, { from: [] as string[], to: [] as string[] }]));
  for (const [from, to] of edges) {
    places.get(from)?.to.push(to);
    places.get(to)?.from.push(from);
  }
  const groups = Map.groupBy(nodes, ({ key }) => {
    const { from = [], to = [] } = places.get(key) ?? {};
    // Nodes without any edge are alike as well.
    return `${from.toSorted().join(' ')} > ${to.toSorted().join(' ')}`;
  });
  const members = new Map<string, string[]>();
  const standsFor = new Map<string, GraphNode>();
  for (const group of groups.values()) {
    const [first] = group;
    if (!first || group.length <= max) continue;
    members.set(
      first.key,
      group.map(({ key }) => key),
    );
    const folded = { key: first.key, label: `${group.length} nodes`, detail: `${first.key}, …` };
    for (const { key } of group) standsFor.set(key, folded);
  }
  const keyOf = (key: string) => standsFor.get(key)?.key ?? key;
  const folded = new Map(edges.map(([from, to]) => [`${keyOf(from)} ${keyOf(to)}`, [keyOf(from), keyOf(to)] as const]));
  return {
    graph: { nodes: [...new Set(nodes.map((node) => standsFor.get(node.key) ?? node))], edges: [...folded.values()] },
    members,
  };
}
