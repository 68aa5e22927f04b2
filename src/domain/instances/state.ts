import { createHash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import type { MaskedOutputs } from '#domain/runs/model.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';
import { Instance, InstanceSlot, StateVersion } from './entity.ts';
import { holdByState } from './resources.ts';
import { readStateFile, type StateFile } from './state-file/state-file.ts';

const context = (instanceId: string, digest: string): SealContext => ['state', instanceId, digest];

/** The next state of an instance. */
export interface NewState {
  readonly content: Buffer;
  /** What the content says. */
  readonly file: StateFile;
  readonly runId: string | null;
  /** The attempt that wrote it, and the number of the write. A repeated write makes no second version. */
  readonly attempt: { id: string; write: number } | null;
  readonly createdBy: string | null;
}

/** Stores a state under the next serial and returns that serial. The caller has locked the row of the instance. */
export async function addStateVersion(em: Em, keyRing: KeyRing, instance: Instance, state: NewState): Promise<number> {
  const { attempt } = state;
  const repeated = attempt && (await em.findOne(StateVersion, { attemptId: attempt.id, attemptWrite: attempt.write }));
  if (repeated) return repeated.serial;
  const digest = `sha256:${createHash('sha256').update(state.content).digest('hex')}`;
  const serial = instance.stateSerial + 1;
  instance.stateSerial = serial;
  await holdByState(em, instance, state.file);
  const version = em.create(StateVersion, {
    instanceId: instance.id,
    serial,
    runId: state.runId,
    attemptId: attempt?.id ?? null,
    attemptWrite: attempt?.write ?? null,
    digest,
    size: state.content.length,
    resourceCount: instance.resourceCount,
    content: keyRing.seal(context(instance.id, digest), state.content),
    createdBy: state.createdBy,
  });
  instance.revision += 1;
  await em.persist(version).flush();
  return serial;
}

/** The content of a state version; null if no version has that serial. */
export async function readState(em: Em, keyRing: KeyRing, instanceId: string, serial: number): Promise<Buffer | null> {
  const version = await em.findOne(StateVersion, { instanceId, serial });
  return version && keyRing.open(context(instanceId, version.digest), version.content);
}

/** The instance with its row locked until the commit. */
export function lockInstance(em: Em, instanceId: string): Promise<Instance> {
  return em.findOneOrFail(Instance, { id: instanceId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/**
 * Adopts existing infrastructure: imports an OpenTofu state into an instance, and returns its serial.
 * @throws Conflict if the instance already has state, or if a run is changing it
 */
export async function importInstanceState(
  tx: Transaction,
  keyRing: KeyRing,
  instanceId: string,
  { content, createdBy }: { content: Buffer; createdBy: string },
): Promise<number> {
  const instance = await lockInstance(tx.em, instanceId);
  if (instance.stateSerial > 0) {
    throw new Conflict(
      `the instance already has state (serial ${instance.stateSerial}): import works only into an instance without one`,
    );
  }
  if (await tx.em.findOne(InstanceSlot, { instanceId })) {
    throw new Conflict('a run is changing the instance: wait for it, or cancel it');
  }
  const state = { content, file: readStateFile(content), runId: null, attempt: null, createdBy };
  const serial = await addStateVersion(tx.em, keyRing, instance, state);
  tx.publish({
    type: 'instance.state_imported',
    subjectId: instanceId,
    owners: { teamId: instance.teamId ?? null },
    data: { serial, resource_count: instance.resourceCount },
  });
  return serial;
}

/** Outputs as the API shows them: the values of secret ones are masked. */
export function maskOutputs(outputs: MaskedOutputs): MaskedOutputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { value, sensitive }]) => [
      name,
      { value: sensitive ? null : value, sensitive },
    ]),
  );
}
