import type { Transaction } from '#domain/shared/transaction.ts';
import type { Run } from './entity.ts';
import { RunNotFinished } from './errors.ts';
import { recordEvent } from './events.ts';

/** Purges what an ended run printed and planned; its lineage, reviews and events stay for history. */
export async function deleteRun(tx: Transaction, run: Run, by: string): Promise<void> {
  if (!run.isFinished())
    throw new RunNotFinished(run.status, 'only a run that has ended can be deleted; cancel it first');
  run.deletedAt = new Date();
  run.revision += 1;
  await tx.em.flush();
  await recordEvent(tx.em, run.id, 'run.deleted', { by });
  await tx.em.execute(`delete from run_log_chunks where run_id = ? and time >= ?`, [run.id, run.createdAt]);
  await tx.em.execute(`delete from run_plans where run_id = ?`, [run.id]);
}
