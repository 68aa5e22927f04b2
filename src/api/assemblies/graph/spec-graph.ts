import type { AssemblyDiff } from '#domain/assemblies/diff/diff.ts';
import type { Graph } from '#domain/assemblies/drawing/drawing.ts';
import {
  type Difference,
  differencesOf,
  graphOf,
  graphOfBoth,
  type TemplateLabel,
} from '#domain/assemblies/drawing/spec-graph.ts';
import type { NodeLook } from '#domain/assemblies/drawing/svg.ts';
import type { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { readableNodes } from '#domain/assemblies/spec/draft-nodes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { drawPicture, type GraphPicture, iconAddress } from './svg-graph.ts';

/** The status that makes a node come first if a graph is too large to be drawn completely. */
const first = 'failed';

/** Reads the graph of a spec. Its edges are the differences from an empty spec, which a thread computes. */
export async function readGraph(
  evaluator: AssemblyEvaluator,
  spec: JsonValue,
  labelOf?: TemplateLabel,
): Promise<Graph> {
  const { edges } = await evaluator.diff({}, spec);
  return graphOf(spec, edges.added, labelOf);
}

/** Draws a draft, which may be invalid. Nodes with problems are highlighted. */
export async function drawDraft(
  evaluator: AssemblyEvaluator,
  spec: JsonValue,
  problems: readonly { readonly path: string }[],
): Promise<GraphPicture> {
  const countOf = (key: string) =>
    problems.filter(({ path }) => path === `/nodes/${key}` || path.startsWith(`/nodes/${key}/`)).length;
  const look = (key: string): NodeLook => {
    const count = countOf(key);
    if (count === 0) return { class: 'valid', icon: iconAddress('check'), word: 'valid' };
    const word = count === 1 ? '1 problem' : `${count} problems`;
    return { class: 'invalid failed status-failed', icon: iconAddress('octagon-x'), word };
  };
  const graph = await readGraph(evaluator, spec);
  const wrong = graph.nodes.filter(({ key }) => countOf(key) > 0).map(({ key }) => [key, first]);
  return drawPicture(evaluator, graph, { title: 'Graph of the nodes', look, statuses: Object.fromEntries(wrong) });
}

/** Draws a published version: each node with its rules. */
export function drawVersion(evaluator: AssemblyEvaluator, spec: JsonValue, graph: Graph): Promise<GraphPicture> {
  const nodes = readableNodes(spec);
  const look = (key: string): NodeLook => {
    const { when, approval } = nodes[key] ?? {};
    const rules = [...(when === undefined ? [] : ['conditional']), ...(approval === undefined ? [] : ['approval'])];
    return { class: 'planned', icon: iconAddress('boxes'), word: rules.join(', ') };
  };
  return drawPicture(evaluator, graph, { title: 'The nodes and what they wait for', look, statuses: {} });
}

const differences = {
  added: { icon: 'plus', tone: 'status-succeeded' },
  removed: { icon: 'minus', tone: 'status-failed' },
  changed: { icon: 'pencil', tone: 'status-approval' },
  unchanged: { icon: 'boxes', tone: 'planned' },
} as const satisfies Record<Difference, object>;

interface Side {
  readonly name: string;
  readonly spec: JsonValue;
}

/** Draws two specs as one graph, in which differences are highlighted. */
export async function drawDiff(
  evaluator: AssemblyEvaluator,
  from: Side,
  to: Side,
  diff: AssemblyDiff,
): Promise<GraphPicture> {
  const [before, after] = await Promise.all([readGraph(evaluator, from.spec), readGraph(evaluator, to.spec)]);
  const { ofNode, ofEdge } = differencesOf(diff);
  const look = (key: string): NodeLook => {
    const { icon, tone } = differences[ofNode(key)];
    return { class: `${ofNode(key)} ${tone}`, icon: iconAddress(icon), word: ofNode(key) };
  };
  const changed = diff.nodes.map(({ key }) => [key, first]);
  return drawPicture(evaluator, graphOfBoth(before, after), {
    title: `What changed from ${from.name} to ${to.name}`,
    look,
    statuses: Object.fromEntries(changed),
    edgeClass: ofEdge,
  });
}
