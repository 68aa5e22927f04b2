import type { Em } from '#database/database.ts';
import { type Instance, StateVersion } from '#domain/instances/entity.ts';
import { addStateVersion, lockInstance } from '#domain/instances/state.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { recordEvent } from '../events.ts';
import { lockAttemptInOrder } from '../steps/transitions.ts';
import { checkState, refuseStateOfPlanning } from './checks.ts';
import type { AttemptState } from './writes.ts';

/** `late`: the state was stored after its attempt was over. `outdated`: it was not stored, since a newer state exists. */
export type StateOutcome = 'kept' | 'late' | 'outdated';

/**
 * Stores a state that an attempt wrote; a repeated call is harmless.
 *
 * An attempt that is over (its worker was lost, or somebody forced its end) may no longer write log or result: its run has
 * ended in another way, and a second result would contradict that. Its state is still accepted. The tool has changed real
 * resources, and only this state lists them; without it they would be created twice, or never removed. It becomes the next
 * state of the instance, unless a newer one was written to the instance since the attempt began. A plan that was made
 * meanwhile from the older state is then refused as moved. Where a newer state exists, that one was made without this one:
 * storing this one on top would undo it on paper only, so people must compare the two.
 * @throws AttemptWriteRefused where the attempt only plans, or where the state cannot be stored
 */
export async function storeAttemptState(tx: Transaction, keyRing: KeyRing, state: AttemptState): Promise<StateOutcome> {
  checkState(state);
  const { run, attempt } = await lockAttemptInOrder(tx.em, state.attemptId);
  refuseStateOfPlanning(run, attempt);
  const instance = await lockInstance(tx.em, run.instanceId);
  if (await tx.em.count(StateVersion, { attemptId: attempt.id, attemptWrite: state.write })) return 'kept';
  const isOver = run.attemptId !== attempt.id;
  if (isOver && (await isOutdated(tx.em, instance, run, attempt, state.write))) return 'outdated';
  const serial = await addStateVersion(tx.em, keyRing, instance, {
    content: state.content,
    resourceCount: state.resourceCount,
    runId: run.id,
    attempt: { id: attempt.id, write: state.write },
    createdBy: run.requestedById,
  });
  run.stateSerialAfter = serial;
  instance.deployedRunId = run.id;
  await tx.em.flush();
  if (!isOver) return 'kept';
  await recordEvent(tx.em, run.id, 'run.state_recovered', { serial });
  return 'late';
}

/** Whether the instance has a state that was written after this attempt began, or a later one of the attempt itself. */
async function isOutdated(em: Em, instance: Instance, run: Run, attempt: RunAttempt, write: number): Promise<boolean> {
  const latest = await em.findOne(StateVersion, { instanceId: instance.id, serial: instance.stateSerial });
  if (!latest || latest.serial <= (run.stateSerialBefore ?? 0)) return false;
  if (latest.attemptId === attempt.id) return (latest.attemptWrite ?? 0) > write;
  if (latest.runId !== run.id) return true;
  const writer = await em.findOne(RunAttempt, { id: latest.attemptId ?? '' });
  return !writer || writer.startedAt > attempt.startedAt;
}
