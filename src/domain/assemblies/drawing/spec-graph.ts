import { isId } from '#domain/shared/ids.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyDiff, Edge } from '../diff/diff.ts';
import { readableNodes } from '../spec/draft-nodes.ts';
import type { Graph, GraphNode } from './drawing.ts';

/** The label for the template of a node and its version; undefined: no label. */
export type TemplateLabel = (
  key: string,
  node: { readonly template: string; readonly version: string },
) => string | undefined;

/** The label as the spec writes it, without an id, which people cannot read. */
const asWritten: TemplateLabel = (_key, { template, version }) => (isId(template) ? version : `${template} ${version}`);

/** The graph of a spec, which may be a draft: its readable nodes, and the edges between them. */
export function graphOf(spec: JsonValue, edges: readonly Edge[], labelOf = asWritten): Graph {
  const nodes = Object.entries(readableNodes(spec)).map(([key, node]): GraphNode => {
    const detail = labelOf(key, node);
    return { key, label: key, ...(detail !== undefined && { detail }) };
  });
  return { nodes, edges };
}

/** Combines both graphs, so that removed nodes are drawn as well. */
export function graphOfBoth(before: Graph, after: Graph): Graph {
  const keys = new Set(after.nodes.map(({ key }) => key));
  const nodes = [...after.nodes, ...before.nodes.filter(({ key }) => !keys.has(key))];
  const edges = new Map([...before.edges, ...after.edges].map((edge) => [nameOf(edge), edge]));
  return { nodes, edges: [...edges.values()] };
}

export type Difference = 'added' | 'removed' | 'changed' | 'unchanged';

/** The result of a comparison for each node and each edge of both graphs. */
export function differencesOf({ nodes, edges }: AssemblyDiff): {
  ofNode: (key: string) => Difference;
  ofEdge: (from: string, to: string) => Difference;
} {
  const changes = new Map<string, Difference>(nodes.map(({ key, change }) => [key, change]));
  const added = new Set(edges.added.map(nameOf));
  const removed = new Set(edges.removed.map(nameOf));
  const ofEdge = (from: string, to: string): Difference => {
    const name = nameOf([from, to]);
    if (added.has(name)) return 'added';
    return removed.has(name) ? 'removed' : 'unchanged';
  };
  return { ofNode: (key) => changes.get(key) ?? 'unchanged', ofEdge };
}

function nameOf([from, to]: Edge): string {
  return `${from} ${to}`;
}
