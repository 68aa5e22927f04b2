import { LockMode } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { addStateBytes } from '#domain/quotas/use/metering-store.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import { Instance, StateVersion } from '../entity.ts';
import { recordResources } from '../resources/resources.ts';
import { stateContext } from '../seals.ts';
import type { MaskedAddresses } from '../state-file/shown-resource.ts';
import type { StateFile } from '../state-file/state-file.ts';
import { raiseOutputs, recordWrittenOutputs, type WrittenOutputs } from './instance-outputs.ts';
import { insertStateVersion } from './version-store.ts';

/** The next state of an instance. */
export interface NewState {
  readonly content: Buffer;
  /** `sha256:…` of the content, if it is known. */
  readonly digest?: string;
  /** The parsed content. */
  readonly file: StateFile;
  /** The addresses of resources with their secrets masked; absent if they are not known. */
  readonly maskedAddresses?: MaskedAddresses | undefined;
  /**
   * Its outputs; undefined if the state does not show them, because steps wrote it or it is encrypted. Then the outputs of the last success
   * stay.
   */
  readonly outputs?: WrittenOutputs | undefined;
  readonly runId: string | null;
  /** The attempt that wrote it, and the number of the write. */
  readonly attempt: { id: string; write: number } | null;
  readonly createdBy: string | null;
}

/**
 * Stores a state under the next serial and returns that serial. The caller has locked the row of the instance, has not stored the same write
 * before, and flushes the instance.
 */
export async function addStateVersion(em: Em, keyRing: KeyRing, instance: Instance, state: NewState): Promise<number> {
  const { attempt } = state;
  const digest = state.digest ?? digestOf(state.content);
  const serial = (instance.stateSerial || (await findLastSerial(em, instance.id))) + 1;
  instance.stateSerial = serial;
  await recordResources(em, instance, state.file);
  if (state.outputs) recordWrittenOutputs(keyRing, instance, state.outputs);
  else raiseOutputs(keyRing, instance, state.file.secretOutputs);
  await insertStateVersion(em, {
    instanceId: instance.id,
    serial,
    runId: state.runId,
    attemptId: attempt?.id ?? null,
    attemptWrite: attempt?.write ?? null,
    digest,
    size: state.content.length,
    resourceCount: instance.resourceCount,
    content: keyRing.seal(stateContext(instance.id, digest), state.content),
    createdBy: state.createdBy,
    maskedAddresses: state.maskedAddresses ? json(state.maskedAddresses) : null,
  });
  await addStateBytes(em, { instanceId: instance.id, bytes: state.content.length });
  instance.revision += 1;
  return serial;
}

/** The last serial that an instance has used; 0 if none. A state that was forgotten keeps its serial. */
async function findLastSerial(em: Em, instanceId: string): Promise<number> {
  const last = await db(em)
    .selectFrom('state_versions')
    .where('instanceId', '=', instanceId)
    .select((eb) => eb.fn.max('serial').as('serial'))
    .executeTakeFirst();
  return last?.serial ?? 0;
}

/** A stored state, and the addresses of its resources with their secrets masked. */
export interface StateContent {
  readonly content: Buffer;
  readonly maskedAddresses: MaskedAddresses;
}

/** Null if no version has that serial. */
export async function readStateContent(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  serial: number,
): Promise<StateContent | null> {
  const version = await em.findOne(StateVersion, { instanceId, serial });
  if (!version) return null;
  const content = keyRing.open(stateContext(instanceId, version.digest), version.content);
  return { content, maskedAddresses: version.maskedAddresses ?? {} };
}

/** The bytes of a state version; null if no version has that serial. */
export async function readState(em: Em, keyRing: KeyRing, instanceId: string, serial: number): Promise<Buffer | null> {
  return (await readStateContent(em, keyRing, instanceId, serial))?.content ?? null;
}

/** The instances that a transaction has locked. */
const locked = new WeakMap<Em, Map<string, Instance>>();

/** Locks the row of an instance until the commit, and reads it, unless the transaction has done so. */
export async function lockAndReadInstance(em: Em, instanceId: string): Promise<Instance> {
  const ofTransaction = locked.get(em) ?? new Map<string, Instance>();
  const known = ofTransaction.get(instanceId);
  if (known) return known;
  const instance = await em.findOneOrFail(Instance, { id: instanceId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  locked.set(em, ofTransaction.set(instanceId, instance));
  return instance;
}
