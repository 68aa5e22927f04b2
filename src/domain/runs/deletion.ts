import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { refuseByStatus } from './actions.ts';
import type { Run } from './entity.ts';
import { publishRunEvent } from './publish-event.ts';

/** Purges the log and the plan of an ended run; its lineage, reviews and events stay for history. */
export async function deleteRun(tx: Transaction, run: Run, by: string): Promise<void> {
  refuseByStatus('delete', run.status);
  run.deletedAt = new Date();
  run.revision += 1;
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.deleted', { by });
  await tx.em.execute(`delete from run_log_chunks where run_id = ? and time >= ?`, [run.id, run.createdAt]);
  await tx.em.execute(`delete from run_plans where run_id = ?`, [run.id]);
}
