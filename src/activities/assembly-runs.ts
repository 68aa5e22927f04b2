import type { NextAssemblyStep } from '#domain/assemblies/model.ts';
import { admitNode, type NodeDeps, noteFailedAdmission } from '#domain/assemblies/runs/nodes/admit-node.ts';
import { type AssemblyStepRequest, takeNextAssemblyStep } from '#domain/assemblies/runs/steps/advance.ts';
import { QuotaExceeded } from '#domain/quotas/errors.ts';
import type { AssemblyRunActivities } from './assembly-runs.contract.ts';
import type { ActivityDeps } from './deps.ts';

/** How many runs one call admits. It must end well within the time limit of a local activity. */
const admissionsAtOnce = 50;

type Deps = NodeDeps & Pick<ActivityDeps, 'log'>;

export function createAssemblyRunActivities(deps: Deps): AssemblyRunActivities {
  return {
    advanceAssemblyRun: ({ assemblyRunId, workflowId, canceled: isCanceled }) =>
      advance(deps, { assemblyRunId, workflowId, isCanceled }),
  };
}

async function advance(deps: Deps, request: AssemblyStepRequest): Promise<NextAssemblyStep> {
  const step = await deps.transactions.run((tx) => takeNextAssemblyStep(tx, deps.keyRing, request));
  if (step.isFinished) return { kind: 'end' };
  // One after another: each locks the row of the assembly run, so simultaneous ones would only wait for each other.
  for (const nodeId of step.starts.slice(0, admissionsAtOnce)) await admitOrNote(deps, nodeId);
  if (step.starts.length > 0 || step.waitSeconds === 0) return { kind: 'again' };
  return { kind: 'wait', seconds: step.waitSeconds };
}

/**
 * Admits the run of a node, or stores the error at the node, so that other nodes can continue. Without the database, nothing can be stored,
 * and the step is tried again.
 */
async function admitOrNote(deps: Deps, nodeId: string): Promise<void> {
  try {
    await admitNode(deps, nodeId);
  } catch (error) {
    // A full queue is not a fault of the service. The node shows it.
    if (!(error instanceof QuotaExceeded))
      deps.log.error(
        { err: error, assembly_node_id: nodeId },
        'could not admit the run of a node; it will be tried again',
      );
    await noteFailedAdmission(deps, nodeId, error);
  }
}
