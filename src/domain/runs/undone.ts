import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { Run } from './entity.ts';
import { publishRunEvent } from './events/publish-event.ts';

/** Records which run took back what a locked run changed. A later one takes the place of an earlier one. */
export async function recordUndone(tx: Transaction, run: Run, undoneBy: string): Promise<void> {
  run.undoneBy = undoneBy;
  run.revision += 1;
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.undone', { run_id: undoneBy });
}
