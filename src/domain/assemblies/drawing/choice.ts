import { type Graph, maxDrawn } from './drawing.ts';

/** The part of a graph that is drawn if it is too large. */
export interface Choice {
  readonly graph: Graph;
  /** The part of the graph in the drawing, such as `200 of 1,412 nodes`; null if the drawing has all nodes. */
  readonly caption: string | null;
}

/** Statuses in the order of the attention that they need. Statuses that are not listed are successful ends. */
const ranks = ['failed', 'timed_out', 'pending_approval', 'canceling', 'running', 'waiting', 'pending', 'canceled'];
const finished = ranks.length;

/**
 * The nodes that most need attention, each with its neighbours: failed ones first, then those that wait, run or have not begun. Edges
 * beyond the maximum are left out.
 */
export function chooseNodes(graph: Graph, statuses: Readonly<Record<string, string>>, max = maxDrawn.nodes): Choice {
  const chosen = graph.nodes.length <= max ? null : chooseKeys(graph, statuses, max);
  const nodes = chosen ? graph.nodes.filter(({ key }) => chosen.has(key)) : graph.nodes;
  const between = chosen ? graph.edges.filter(([from, to]) => chosen.has(from) && chosen.has(to)) : graph.edges;
  const edges = between.slice(0, maxDrawn.edges);
  return {
    graph: { nodes, edges },
    caption: captionOf([nodes.length, graph.nodes.length], [edges.length, between.length]),
  };
}

function captionOf([nodes, allNodes]: [number, number], [edges, allEdges]: [number, number]): string | null {
  const count = (shown: number, all: number) => `${shown.toLocaleString('en-US')} of ${all.toLocaleString('en-US')}`;
  const parts = [
    ...(nodes < allNodes ? [`${count(nodes, allNodes)} nodes`] : []),
    ...(edges < allEdges ? [`${count(edges, allEdges)} of the arrows between them`] : []),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function chooseKeys(graph: Graph, statuses: Readonly<Record<string, string>>, max: number): Set<string> {
  const neighbours = neighboursOf(graph);
  const rankOf = (key: string) => {
    const rank = ranks.indexOf(statuses[key] ?? '');
    return rank < 0 ? finished : rank;
  };
  const ordered = graph.nodes.map(({ key }) => key).sort((a, b) => rankOf(a) - rankOf(b));
  const chosen = new Set<string>();
  for (const key of ordered) {
    for (const next of [key, ...(neighbours.get(key) ?? [])]) {
      if (chosen.size === max) return chosen;
      chosen.add(next);
    }
  }
  return chosen;
}

function neighboursOf({ edges }: Graph): Map<string, string[]> {
  const neighbours = new Map<string, string[]>();
  const add = (key: string, other: string) => {
    const known = neighbours.get(key);
    if (known) known.push(other);
    else neighbours.set(key, [other]);
  };
  for (const [from, to] of edges) {
    add(from, to);
    add(to, from);
  }
  return neighbours;
}
