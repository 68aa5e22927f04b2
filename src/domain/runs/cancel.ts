import type { Transaction } from '#domain/shared/transaction.ts';
import type { Run } from './entity.ts';
import { RunNotCancelable } from './errors.ts';
import { recordEvent } from './events.ts';
import { finishRun } from './lifecycle.ts';

export interface Cancellation {
  readonly reason?: string | undefined;
  /** End the run now, without its worker's word; whatever that still does is refused. */
  readonly force?: boolean | undefined;
}

/**
 * Asks for a run's end: `canceling`, until the worker confirms. With `force` it ends at once: the attempt is fenced off and
 * the instance is free. Asking again is harmless, and may add the force.
 */
export async function cancelRun(tx: Transaction, run: Run, { reason, force }: Cancellation, by: string): Promise<void> {
  if (run.isFinished()) throw new RunNotCancelable(run.status);
  const already = run.status === 'canceling';
  if (already && !force) return;
  run.cancelReason = reason ?? run.cancelReason ?? null;
  if (!already) {
    run.moveTo('canceling');
    run.statusReason = 'canceled_by_user';
  }
  await tx.em.flush();
  await recordEvent(tx.em, run.id, 'run.cancel_requested', { by, reason: reason ?? null, force: force ?? false });
  tx.tell(run.idempotencyKey, { kind: 'cancel' });
  if (force) await finishRun(tx, run, 'canceled', 'forced');
}
