import { groupWordOf } from '#api/web/components/status.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Em } from '#database/database.ts';
import type { Graph } from '#domain/assemblies/drawing/drawing.ts';
import { foldGroups } from '#domain/assemblies/drawing/fold.ts';
import type { NodeLook } from '#domain/assemblies/drawing/svg.ts';
import type { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { type AssemblyNodeDetails, readNodes } from '#domain/assemblies/runs/store.ts';
import { byUrgency, countStatuses, lookOfNode, nodeStatusLooks } from './node-looks.ts';
import { drawPicture, type GraphPicture, iconAddress } from './svg-graph.ts';

/** The facts about a node that its drawing shows. */
export type DrawnNode = Pick<
  AssemblyNodeDetails,
  'key' | 'status' | 'reason' | 'dependencies' | 'templateVersion' | 'instance' | 'runId' | 'runWaitingOn'
>;

/** Draws an assembly run. The caller has checked that the visitor may read it. */
export async function drawRun(evaluator: AssemblyEvaluator, em: Em, assemblyRunId: string): Promise<GraphPicture> {
  return drawNodes(evaluator, await readNodes(em, assemblyRunId));
}

/** If the graph has many nodes at the same place, they are drawn as one, with a count of their statuses. */
export function drawNodes(evaluator: AssemblyEvaluator, nodes: readonly DrawnNode[]): Promise<GraphPicture> {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const { graph, members } = foldGroups(toGraph(nodes));
  const statusOf = (key: string) => statusesOf(members.get(key) ?? [key], byKey);
  const statuses = Object.fromEntries(graph.nodes.map(({ key }) => [key, maxUrgent(statusOf(key))]));
  const look = (key: string) => {
    const folded = members.get(key);
    const node = byKey.get(key);
    return folded ? lookOfMany(folded, statusOf(key)) : node ? lookOf(node) : lookOfMany([], []);
  };
  return drawPicture(evaluator, graph, { look, statuses, title: 'The nodes of this run and what they wait for' });
}

function toGraph(nodes: readonly DrawnNode[]): Graph {
  const known = new Set(nodes.map(({ key }) => key));
  return {
    nodes: nodes.map(({ key, instance }) => ({ key, label: key, ...(instance !== key && { detail: instance }) })),
    edges: nodes.flatMap(({ key, dependencies }) =>
      dependencies.filter((from) => known.has(from)).map((from) => [from, key] as const),
    ),
  };
}

function statusesOf(keys: readonly string[], byKey: ReadonlyMap<string, DrawnNode>): NodeStatus[] {
  return keys.flatMap((key) => byKey.get(key)?.status ?? []);
}

function maxUrgent(statuses: readonly NodeStatus[]): NodeStatus {
  return byUrgency.find((status) => statuses.includes(status)) ?? 'pending';
}

function lookOf({ status, reason, runId, runWaitingOn }: DrawnNode): NodeLook {
  const { word, icon, tone } = lookOfNode({ status, reason, waiting_on: runWaitingOn });
  return {
    class: `${status} status-${tone}`,
    icon: iconAddress(icon),
    word,
    ...(reason && { title: reason.message }),
    ...(runId !== null && { href: pagePath(pages.run, { id: runId }) }),
  };
}

function lookOfMany(keys: readonly string[], statuses: readonly NodeStatus[]): NodeLook {
  const status = maxUrgent(statuses);
  const { icon, tone } = nodeStatusLooks[status];
  const counts = countStatuses(statuses).map(
    ({ status: each, count }) => `${count} ${groupWordOf(nodeStatusLooks[each]).toLowerCase()}`,
  );
  return {
    class: `folded ${status} status-${tone}`,
    icon: iconAddress(icon),
    word: counts.length > 1 ? `${counts[0]}, …` : (counts[0] ?? ''),
    title: [...counts, keys.join(', ')].join(', '),
  };
}
