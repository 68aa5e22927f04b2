import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, invalidField, Unprocessable } from '#domain/shared/errors.ts';
import { type AssemblyOperation, operationRules } from '../../model.ts';
import { findDeployedInstances } from '../nodes/outputs.ts';
import type { AssemblyInEnvironment } from '../targets.ts';
import { findDeployedNodes } from './deployed-nodes-store.ts';
import { findDependentLeftBehind, nodesOfVersion, nodesToDestroy, type PlannedNode } from './plan-nodes.ts';
import type { PublishedAssembly } from './published.ts';

/**
 * Chooses the nodes of a new run, in an order in which each comes after those that it waits for.
 * @throws Conflict if nothing is deployed that could be destroyed; Invalid or Unprocessable for chosen nodes that do not fit
 */
export async function chooseNodes(
  tx: Transaction,
  { assemblyId, environmentId }: AssemblyInEnvironment,
  version: PublishedAssembly,
  { operation, only: named }: { readonly operation: AssemblyOperation; readonly only?: readonly string[] | undefined },
): Promise<PlannedNode[]> {
  const only = named ?? null;
  if (operationRules[operation].nodesFrom === 'deployment')
    return planDestruction(tx, { assemblyId, environmentId }, only);
  refuseUnknown(only, Object.keys(version.spec.nodes));
  const nodes = nodesOfVersion(version, only);
  if (only) await refuseWithoutOutputs(tx, environmentId, nodes);
  return nodes;
}

async function planDestruction(
  tx: Transaction,
  where: { assemblyId: string; environmentId: string },
  only: readonly string[] | null,
): Promise<PlannedNode[]> {
  const deployed = await findDeployedNodes(tx.em, where);
  if (!deployed.some(({ holdsResources }) => holdsResources))
    throw new Conflict(
      'no run of this assembly has deployed anything in this environment that could be destroyed',
      'nothing_deployed',
    );
  refuseUnknown(
    only,
    deployed.map(({ key }) => key),
  );
  const nodes = nodesToDestroy(deployed, only);
  const left = findDependentLeftBehind(nodes, deployed);
  if (left)
    throw invalidField('only', `"${left.dependent}" is deployed and depends on "${left.node}": destroy it as well`);
  return nodes;
}

function refuseUnknown(only: readonly string[] | null, known: readonly string[]): void {
  const unknown = only?.find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const nodes = known
    .slice(0, 20)
    .map((key) => JSON.stringify(key))
    .join(', ');
  throw invalidField('only', `there is no node "${unknown}"; the nodes are ${nodes}${known.length > 20 ? ', …' : ''}`);
}

/** Refuses a chosen node that refers to the outputs of a node which is left out and not deployed. */
async function refuseWithoutOutputs(
  tx: Transaction,
  environmentId: string,
  nodes: readonly PlannedNode[],
): Promise<void> {
  const chosen = nodes.filter(({ skipped }) => !skipped);
  const used = new Set(chosen.flatMap(({ dependencies }) => dependencies));
  const leftOut = nodes.filter(({ key, skipped }) => skipped && used.has(key));
  const deployed = await findDeployedInstances(tx.em, { environmentId }, leftOut);
  const missing = leftOut.find(({ key }) => !deployed.has(key));
  if (missing)
    throw new Unprocessable(
      `only: "${missing.key}" is not deployed in this environment, and a chosen node depends on it: choose it as well`,
      {
        code: 'node_not_deployed',
      },
    );
}
