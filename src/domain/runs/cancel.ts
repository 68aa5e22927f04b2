import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { refuseByStatus } from './actions.ts';
import type { Run } from './entity.ts';
import { publishRunEvent } from './events/publish-event.ts';
import { changeStatus, finishRun } from './steps/transitions.ts';

export interface Cancellation {
  readonly reason?: string | undefined;
  /** Ends the run now, without waiting for its worker; later writes of the worker are refused. */
  readonly force?: boolean | undefined;
}

/**
 * Requests the end of a run: it is `canceling` until its worker confirms. With `force` the run ends at once: its attempt is
 * fenced off and its slot is released. A second request is harmless, and may add `force`.
 * @throws ActionRefused if the run has already ended
 */
export async function cancelRun(tx: Transaction, run: Run, { reason, force }: Cancellation, by: string): Promise<void> {
  refuseByStatus(force ? 'force' : 'cancel', run.status);
  const already = run.status === 'canceling';
  if (already && !force) return;
  run.cancelReason = reason ?? run.cancelReason ?? null;
  if (!already) {
    changeStatus(tx, run, 'canceling');
    run.statusReason = 'canceled_by_user';
  }
  await tx.em.flush();
  publishRunEvent(tx, run, 'run.cancel_requested', { by, reason: reason ?? null, force: force ?? false });
  tx.notifyEngine(run.idempotencyKey, { kind: 'cancel' });
  if (force) await finishRun(tx, run, { status: 'canceled', reason: 'forced' });
}
