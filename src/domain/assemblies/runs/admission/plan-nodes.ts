import type { NodeReason } from '../../model.ts';
import { topologicalOrder } from '../../spec/graph.ts';
import { type AssemblyNodeSpec, instanceOf } from '../../spec/spec.ts';
import type { PublishedAssembly } from './published.ts';

/** A node of an assembly run before its row is written. */
export interface PlannedNode {
  readonly key: string;
  readonly spec: AssemblyNodeSpec;
  readonly dependencies: readonly string[];
  /** The version of the assembly whose node it is. */
  readonly assemblyVersionId: string;
  readonly templateId: string;
  readonly templateVersionId: string;
  readonly templateVersion: string;
  readonly instance: string;
  /** Why the node is left out; null if it takes part. */
  readonly skipped: NodeReason | null;
}

const notChosen: NodeReason = { code: 'not_chosen', message: 'the run is for other nodes only' };

/** The nodes of a run that applies or plans a version, in an order in which each comes after those that it waits for. */
export function nodesOfVersion(version: PublishedAssembly, only: readonly string[] | null): PlannedNode[] {
  const dependencies = new Map(Object.entries(version.dependencies).map(([key, keys]) => [key, new Set(keys)]));
  return topologicalOrder(dependencies).map((key) => {
    const dependencies = version.dependencies[key] ?? [];
    return { ...nodeOf(version, key), dependencies, skipped: only && !only.includes(key) ? notChosen : null };
  });
}

function nodeOf(
  { id, spec, templates }: PublishedAssembly,
  key: string,
): Omit<PlannedNode, 'dependencies' | 'skipped'> {
  const node = spec.nodes[key];
  const template = templates[key];
  if (!node || !template) throw new Error(`the version has no node "${key}"`);
  const { templateId, versionId, version } = template;
  const instance = instanceOf(key, node);
  const chosen = { templateId, templateVersionId: versionId, templateVersion: version };
  return { key, spec: node, assemblyVersionId: id, ...chosen, instance };
}

/** A node that an earlier run of the assembly has applied in the environment. */
export interface DeployedNode extends Omit<PlannedNode, 'skipped'> {
  /** Whether its instance still has resources. */
  readonly holdsResources: boolean;
}

const notDeployed: NodeReason = { code: 'not_deployed', message: 'nothing is deployed that could be destroyed' };

/**
 * The nodes of a run that destroys what is deployed. Each node waits for the nodes that waited for it in the apply, so that nothing is
 * destroyed while something else still uses it.
 */
export function nodesToDestroy(deployed: readonly DeployedNode[], only: readonly string[] | null): PlannedNode[] {
  const dependents = new Map<string, Set<string>>(deployed.map(({ key }) => [key, new Set<string>()]));
  for (const { key, dependencies } of deployed) for (const used of dependencies) dependents.get(used)?.add(key);
  const byKey = new Map(deployed.map((node) => [node.key, node]));
  return topologicalOrder(breakCycles(dependents)).flatMap((key) => {
    const node = byKey.get(key);
    if (!node) return [];
    const { holdsResources, ...planned } = node;
    const skipped = only && !only.includes(key) ? notChosen : holdsResources ? null : notDeployed;
    return [{ ...planned, dependencies: [...(dependents.get(key) ?? [])], skipped }];
  });
}

/** Breaks cycles, which arise if nodes of different versions waited for each other: the later key no longer waits. */
function breakCycles(dependents: ReadonlyMap<string, Set<string>>): Map<string, Set<string>> {
  const done = new Set<string>();
  const path = new Set<string>();
  const visit = (key: string) => {
    path.add(key);
    for (const dependent of [...(dependents.get(key) ?? [])]) {
      if (path.has(dependent)) dependents.get(key)?.delete(dependent);
      else if (!done.has(dependent)) visit(dependent);
    }
    path.delete(key);
    done.add(key);
  };
  for (const key of dependents.keys()) if (!done.has(key)) visit(key);
  return new Map(dependents);
}

/** A deployed node that would stay although the run destroys a node on which it depends; null if there is none. */
export function findDependentLeftBehind(
  nodes: readonly PlannedNode[],
  deployed: readonly DeployedNode[],
): { node: string; dependent: string } | null {
  const stays = new Set(deployed.filter(({ holdsResources }) => holdsResources).map(({ key }) => key));
  for (const { key, skipped } of nodes) if (!skipped) stays.delete(key);
  for (const { key: node, dependencies, skipped } of nodes) {
    const dependent = skipped ? undefined : dependencies.find((other) => stays.has(other));
    if (dependent !== undefined) return { node, dependent };
  }
  return null;
}
