import type { Em } from '#database/database.ts';
import { type Instance, StateVersion } from '#domain/instances/entity.ts';
import type { WrittenOutputs } from '#domain/instances/state/instance-outputs.ts';
import { addStateVersion, lockAndReadInstance } from '#domain/instances/state/state.ts';
import { parseOutputs } from '#domain/instances/state-file/outputs.ts';
import type { StateFile } from '#domain/instances/state-file/state-file.ts';
import { recordWriter } from '#domain/instances/writer.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Run, RunAttempt } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { lockAttemptInOrder } from '../steps/transitions.ts';
import { checkWrittenState, refuseStateOfPlanning } from './checks.ts';
import { recordBegunDeployment, recordIncomplete } from './deployment-record.ts';
import { representOutputs } from './represented-outputs.ts';
import type { AttemptState } from './writes.ts';

/**
 * What happened to a state. `late`: it was kept although its attempt was over. `outdated`: discarded because a newer state
 * exists.
 */
export type StateOutcome = 'kept' | 'late' | 'outdated';

/**
 * Keeps a state that an attempt wrote. Repeating it is harmless.
 *
 * An attempt may be over: its worker was lost, or an operator forced its end. Such an attempt may no longer write logs or results, since
 * its run has ended another way. Its state is different. The tool has changed real resources, and the state names them. Without it, the
 * next run would create them again, or never remove them. So the state becomes the next one of the instance, unless something newer was
 * written to the instance since the attempt began. A plan that was made from the older state is then refused, because the state has moved.
 * If something newer was written, it was made without this state. Storing this state as the latest would hide the newer one, although its
 * resources exist, so people have to compare the two.
 * @throws AttemptWriteRefused for a state of planning, and for one that cannot be stored
 */
export async function storeAttemptState(tx: Transaction, keyRing: KeyRing, state: AttemptState): Promise<StateOutcome> {
  const file = checkWrittenState(state);
  const { run, attempt } = await lockAttemptInOrder(tx.em, state.attemptId);
  refuseStateOfPlanning(run, attempt);
  const instance = await lockAndReadInstance(tx.em, run.instanceId);
  if (await tx.em.count(StateVersion, { attemptId: attempt.id, attemptWrite: state.write })) return 'kept';
  const isOver = run.attemptId !== attempt.id;
  if (isOver && (await isOutdated(tx.em, instance, run, attempt, state.write))) return 'outdated';
  const serial = await addStateVersion(tx.em, keyRing, instance, {
    content: state.content,
    file,
    maskedAddresses: state.maskedAddresses,
    outputs: await readWrittenOutputs(run, file, state),
    runId: run.id,
    attempt: { id: attempt.id, write: state.write },
    createdBy: run.requestedById,
  });
  run.stateSerialAfter = serial;
  if (run.tool) recordWriter(instance, run.tool);
  await recordBegunDeployment(tx.em, instance, run);
  if (!isOver) return 'kept';
  await tx.em.flush();
  await recordIncomplete(tx.em, run);
  await recordRecovery(tx, run, serial);
  return 'late';
}

/** The outputs in a state of a tool. Steps leave theirs in a file of their own, and what encrypts a state encrypts them. */
async function readWrittenOutputs(
  run: Run,
  { kind, secretOutputs }: StateFile,
  { content, secretOutputs: found }: AttemptState,
): Promise<WrittenOutputs | undefined> {
  if (kind !== 'tool' || !run.tool) return undefined;
  const outputs = await parseOutputs(content, Number.POSITIVE_INFINITY);
  const secret = found && [...secretOutputs, ...found];
  return { outputs: representOutputs(outputs ?? {}), secret, keepsNulls: run.operation !== 'destroy' };
}

async function recordRecovery(tx: Transaction, run: Run, serial: number): Promise<void> {
  publishRunEvent(tx, run, 'run.state_recovered', { serial });
  const owners = (await findOwningTeam(tx.em, 'run', run.id)) ?? installationOwnership;
  recordSystemAction(tx, 'instance.state_recovered', { id: run.instanceId, after: { serial, runId: run.id } }, owners);
}

/**
 * Whether the instance was deleted, or has a newer state: from elsewhere since this attempt began, or a later write of the attempt itself.
 */
async function isOutdated(em: Em, instance: Instance, run: Run, attempt: RunAttempt, write: number): Promise<boolean> {
  if (instance.deletedAt) return true;
  const latest = await em.findOne(StateVersion, { instanceId: instance.id, serial: instance.stateSerial });
  if (!latest || latest.serial <= (run.stateSerialBefore ?? 0)) return false;
  if (latest.attemptId === attempt.id) return (latest.attemptWrite ?? 0) > write;
  if (latest.runId !== run.id) return true;
  const writer = await em.findOne(RunAttempt, { id: latest.attemptId ?? '' });
  return !writer || writer.startedAt > attempt.startedAt;
}
