import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { recordEventOnce } from '../events.ts';
import { lockAttemptInOrder } from '../steps/transitions.ts';
import { countRefusedState } from './store.ts';

/** A state that an attempt wrote and that could not be stored. */
export interface RefusedState {
  readonly attemptId: string;
  /** The number of the write; null where it had no valid number. */
  readonly write: number | null;
  /** `sha256:…` of its content. */
  readonly digest: string;
  /** The name of its sealed file in the worker's spool; null where the worker did not keep it. */
  readonly file: string | null;
  readonly workerId: string;
  /** The rule that it broke; never its content. */
  readonly problem: string;
}

/**
 * Records in the events of the run that a state was set aside, and counts it for the operators of the installation. The run
 * may have ended; a repeated call is harmless.
 */
export async function recordRefusedState(tx: Transaction, refused: RefusedState): Promise<void> {
  const { run } = await lockAttemptInOrder(tx.em, refused.attemptId);
  const { attemptId: attempt_id, write, digest, file, workerId: worker_id, problem } = refused;
  const key = { attempt_id, write, digest };
  const isNew = await recordEventOnce(tx.em, run.id, 'run.state_refused', key, { file, worker_id, problem });
  if (isNew) await countRefusedState(tx.em);
}
