import type { AssemblyOperation, NodeReason } from '../model.ts';
import { topologicalOrder } from '../spec/graph.ts';
import type { AssemblyNodeSpec } from '../spec/spec.ts';
import type { PublishedAssembly } from './published.ts';

/** A node of an assembly run before it has its row. */
export interface PlannedNode {
  readonly key: string;
  readonly spec: AssemblyNodeSpec;
  readonly waitsFor: readonly string[];
  readonly templateId: string;
  readonly templateVersionId: string;
  readonly templateVersion: string;
  readonly instance: string;
  /** Why the node is left out; null if it takes part. */
  readonly skipped: NodeReason | null;
}

const notChosen: NodeReason = { code: 'not_chosen', message: 'the run is for other nodes only' };

/** The nodes of a run that applies or plans a version, in an order in which each follows those that it waits for. */
export function nodesOfVersion(version: PublishedAssembly, only: readonly string[] | null): PlannedNode[] {
  const dependencies = new Map(Object.entries(version.dependencies).map(([key, keys]) => [key, new Set(keys)]));
  return topologicalOrder(dependencies).map((key) => {
    const waitsFor = version.dependencies[key] ?? [];
    return { ...nodeOf(version, key), waitsFor, skipped: only && !only.includes(key) ? notChosen : null };
  });
}

function nodeOf({ spec, templates }: PublishedAssembly, key: string): Omit<PlannedNode, 'waitsFor' | 'skipped'> {
  const node = spec.nodes[key];
  const template = templates[key];
  if (!node || !template) throw new Error(`the version has no node "${key}"`);
  const { templateId, versionId, version } = template;
  const instance = node.instance ?? key;
  return { key, spec: node, templateId, templateVersionId: versionId, templateVersion: version, instance };
}

/** A node that an earlier run of the assembly made in the environment. */
export interface MadeNode extends Omit<PlannedNode, 'skipped'> {
  /** Whether its instance still holds something. */
  readonly isDeployed: boolean;
}

const notDeployed: NodeReason = { code: 'not_deployed', message: 'nothing is deployed that could be destroyed' };

/**
 * The nodes of a run that destroys what was made: each waits for those that once waited for it, so that nothing is destroyed while
 * something else still uses it.
 */
export function nodesToDestroy(made: readonly MadeNode[], only: readonly string[] | null): PlannedNode[] {
  const users = new Map<string, Set<string>>(made.map(({ key }) => [key, new Set<string>()]));
  for (const { key, waitsFor } of made) for (const used of waitsFor) users.get(used)?.add(key);
  const byKey = new Map(made.map((node) => [node.key, node]));
  return topologicalOrder(breakCircles(users)).flatMap((key) => {
    const node = byKey.get(key);
    if (!node) return [];
    const { isDeployed, ...planned } = node;
    const skipped = only && !only.includes(key) ? notChosen : isDeployed ? null : notDeployed;
    return [{ ...planned, waitsFor: [...(users.get(key) ?? [])], skipped }];
  });
}

/** Nodes of different versions may have waited for each other: then the later key no longer waits. */
function breakCircles(users: ReadonlyMap<string, Set<string>>): Map<string, Set<string>> {
  const done = new Set<string>();
  const path = new Set<string>();
  const visit = (key: string) => {
    path.add(key);
    for (const user of [...(users.get(key) ?? [])]) {
      if (path.has(user)) users.get(key)?.delete(user);
      else if (!done.has(user)) visit(user);
    }
    path.delete(key);
    done.add(key);
  };
  for (const key of users.keys()) if (!done.has(key)) visit(key);
  return new Map(users);
}

/** A node that stays although a node that it uses is destroyed; null if there is none. */
export function findStrandedUser(nodes: readonly PlannedNode[], made: readonly MadeNode[]): [string, string] | null {
  const stays = new Set(made.filter(({ isDeployed }) => isDeployed).map(({ key }) => key));
  for (const { key, skipped } of nodes) if (!skipped) stays.delete(key);
  for (const { key, waitsFor, skipped } of nodes) {
    const user = skipped ? undefined : waitsFor.find((other) => stays.has(other));
    if (user !== undefined) return [key, user];
  }
  return null;
}

/** Whether the operation takes its nodes from what earlier runs made. */
export const isDestroy = (operation: AssemblyOperation) => operation === 'destroy';
