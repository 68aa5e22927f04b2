import { installationOwnership } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import { publishRunEventOnce } from '../events/publish-event.ts';
import { lockAttemptInOrder } from '../steps/transitions.ts';
import { countRefusedState } from './store.ts';

/** A state that an attempt wrote and that could not be stored. */
export interface RefusedState {
  readonly attemptId: string;
  /** The number of the write; null if it had no valid number. */
  readonly write: number | null;
  /** `sha256:…` of its content. */
  readonly digest: string;
  /** The name of its sealed file in the worker's spool; null if the worker did not keep it. */
  readonly file: string | null;
  readonly workerId: string;
  /** The rule that it broke; never its content. */
  readonly problem: string;
}

/**
 * Publishes and records that a state was set aside, and counts it for the operators. The run may have ended; repeating the call
 * is harmless.
 */
export async function recordRefusedState(tx: Transaction, refused: RefusedState): Promise<void> {
  const { run } = await lockAttemptInOrder(tx.em, refused.attemptId);
  const { attemptId: attempt_id, write, digest, file, workerId: worker_id, problem } = refused;
  const key = { attempt_id, write, digest };
  const isNew = await publishRunEventOnce(tx, run, 'run.state_refused', key, { ...key, file, worker_id, problem });
  if (!isNew) return;
  await countRefusedState(tx.em);
  const owners = (await findOwningTeam(tx.em, 'run', run.id)) ?? installationOwnership;
  const after = { runId: run.id, ...refused };
  recordSystemAction(tx, 'instance.state_refused', { id: run.instanceId, after }, owners);
}
