import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import type { AssemblyRun } from '../entity.ts';
import { publishAssemblyRunEvent } from './publish-event.ts';
import { refuseByStatus } from './rules.ts';

/**
 * Requests the end of an assembly run: its workflow cancels the runs of its nodes, and starts no further ones. A second request changes
 * nothing. The caller has locked the row.
 * @throws ActionRefused if it has already ended
 */
export async function cancelAssemblyRun(
  tx: Transaction,
  run: AssemblyRun,
  reason: string | undefined,
  by: string,
): Promise<void> {
  refuseByStatus('cancel', run.status);
  if (!run.moveTo('canceling')) return;
  run.cancelReason = reason ?? null;
  run.canceledByName = by;
  run.statusReason = 'canceled_by_user';
  await tx.em.flush();
  publishAssemblyRunEvent(tx, run, 'assembly_run.cancel_requested', { by, reason: reason ?? null });
  tx.notifyEngine(run.workflowId, { kind: 'signal', signal: wakeSignal });
}
