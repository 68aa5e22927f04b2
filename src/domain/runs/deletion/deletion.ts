import { removeLogBytes } from '#domain/quotas/use/metering-store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { cascadeDeletion } from '#domain/shared/ownership-graph/deletion.ts';
import { refuseByStatus } from '../actions.ts';
import { withoutSnippet } from '../diagnostics/status-detail.ts';
import type { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { eraseInputs } from './erasure.ts';

/**
 * Deletes an ended run: its inputs, its log, its plan and its comments are purged; its lineage, reviews and events stay for history.
 * @throws ActionRefused if the run has not ended
 */
export async function deleteRun(tx: Transaction, run: Run, by: string): Promise<void> {
  refuseByStatus('delete', run.status);
  run.deletedAt = new Date();
  run.statusDetail = run.statusDetail ? withoutSnippet(run.statusDetail) : null;
  run.revision += 1;
  await eraseInputs(tx.em, run);
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.deleted', { by });
  await removeLogBytes(tx.em, { runId: run.id, createdAt: run.createdAt.toISOString() });
  await cascadeDeletion(tx.em, 'run', run.id);
}
