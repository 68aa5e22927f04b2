import type { NextAssemblyStep } from '#domain/assemblies/model.ts';
import { admitNode, type NodeDeps } from '#domain/assemblies/runs/admit-node.ts';
import { takeNextAssemblyStep } from '#domain/assemblies/runs/advance.ts';
import type { AssemblyRunActivities } from './assembly-runs.contract.ts';

/** How many runs one call admits at most. It must end well within the time limit of a local activity. */
const admissionsAtOnce = 50;

export function createAssemblyRunActivities(deps: NodeDeps): AssemblyRunActivities {
  return { advanceAssemblyRun: (request) => advance(deps, request) };
}

async function advance(
  deps: NodeDeps,
  { assemblyRunId, canceled }: { assemblyRunId: string; canceled: boolean },
): Promise<NextAssemblyStep> {
  const request = { assemblyRunId, isCanceled: canceled };
  const step = await deps.transactions.run((tx) => takeNextAssemblyStep(tx, deps.keyRing, request));
  if (step.isFinished) return { kind: 'end' };
  // One after another: each holds the row of the assembly run, so side by side they would only wait for each other.
  for (const nodeId of step.starts.slice(0, admissionsAtOnce)) await admitNode(deps, nodeId);
  return step.starts.length > 0 ? { kind: 'again' } : { kind: 'wait', seconds: step.waitSeconds };
}
