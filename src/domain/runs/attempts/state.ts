import type { Em } from '#database/database.ts';
import { type Instance, StateVersion } from '#domain/instances/entity.ts';
import { addStateVersion, lockInstance } from '#domain/instances/state.ts';
import { nobody } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { publishRunEvent } from '../publish-event.ts';
import { lockAttemptInOrder } from '../steps/transitions.ts';
import { checkState, refuseStateOfPlanning } from './checks.ts';
import type { AttemptState } from './writes.ts';

/** What became of a state: `late`, where its attempt was over by then; `outdated`, where a newer one is there. */
export type StateFate = 'kept' | 'late' | 'outdated';

/**
 * Keeps a state that an attempt wrote; repeating it is harmless.
 *
 * An attempt that is over (its worker was lost, or somebody forced the end) may write no log and no result any more: its
 * run has ended by other means, and two ends would contradict each other. Its state is another matter. The tool has changed
 * real things and says which; whoever refuses to know that makes them twice, or never removes them. So it becomes the
 * instance's next state as long as nothing newer was written to the instance since the attempt began. A plan that was made
 * meanwhile from the older state is then refused as moved, as it should be. Where something newer was written, that was
 * made without this one, and putting this one on top would undo it in the books alone: then it is for people to compare.
 * @throws AttemptWriteRefused where it comes of planning, or cannot be stored
 */
export async function keepAttemptState(tx: Transaction, keyRing: KeyRing, state: AttemptState): Promise<StateFate> {
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
  await recordRecovery(tx, run, serial);
  return 'late';
}

async function recordRecovery(tx: Transaction, run: Run, serial: number): Promise<void> {
  publishRunEvent(tx, run, 'run.state_recovered', { serial });
  const owners = (await findOwningTeam(tx.em, 'run', run.id)) ?? nobody;
  recordSystemAction(tx, 'instance.state_recovered', { id: run.instanceId, after: { serial, runId: run.id } }, owners);
}

/** Whether somebody wrote to the instance after this attempt had begun, or the attempt itself wrote something later. */
async function isOutdated(em: Em, instance: Instance, run: Run, attempt: RunAttempt, write: number): Promise<boolean> {
  const latest = await em.findOne(StateVersion, { instanceId: instance.id, serial: instance.stateSerial });
  if (!latest || latest.serial <= (run.stateSerialBefore ?? 0)) return false;
  if (latest.attemptId === attempt.id) return (latest.attemptWrite ?? 0) > write;
  if (latest.runId !== run.id) return true;
  const writer = await em.findOne(RunAttempt, { id: latest.attemptId ?? '' });
  return !writer || writer.startedAt > attempt.startedAt;
}
