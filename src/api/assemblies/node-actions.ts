import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { findPendingRefusal } from '#domain/assemblies/runs/nodes/node-review.ts';
import type { AssemblyNodeDetails } from '#domain/assemblies/runs/store.ts';
import { findRunRefusal } from '#domain/runs/actions.ts';
import type { RunWithFacts } from '#domain/runs/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ListedAssemblyNodeView, toAssemblyNode } from './run-views.ts';

interface NodeTarget extends Ownership {
  readonly node: AssemblyNodeDetails;
  /** Its latest run; null if it has had none yet. */
  readonly run: RunWithFacts | null;
}

const reviewing = (decision: 'approve' | 'reject') => ({
  operation: 'assemblies.approve_node',
  findRefusal: ({ node: { key, status }, run }: NodeTarget, caller: Principal) =>
    findPendingRefusal({ key, status, run: run?.facts ?? null }) ??
    (run && findRunRefusal(decision, run.facts, caller)),
});

const actions = actionsOf<NodeTarget>()({ approve: reviewing('approve'), reject: reviewing('reject') });

/** A node that is read alone. */
export const AssemblyNodeView = ListedAssemblyNodeView.extend({ actions: actions.view }).meta({ id: 'AssemblyNode' });

/** Shows one node with what the caller may do with it. */
export function showAssemblyNode(context: ActionContext, target: NodeTarget) {
  return { ...toAssemblyNode(target.node), actions: actions.describe(context, target) };
}
