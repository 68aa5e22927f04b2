import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { AssemblyNode, AssemblyRun } from '../../entity.ts';
import type { NodeStatus } from '../../model.ts';
import { publishAssemblyRunEvent } from '../publish-event.ts';

/**
 * Gives a node a status for which no other event is published. The same status again publishes nothing. The caller has locked the row of
 * the assembly run.
 */
export function moveNode(tx: Transaction, run: AssemblyRun, node: AssemblyNode, status: NodeStatus): void {
  if (node.status === status) return;
  node.status = status;
  const data = { node: node.key, run_id: node.runId ?? null, status };
  publishAssemblyRunEvent(tx, run, 'assembly_run.node_status_changed', data);
}
