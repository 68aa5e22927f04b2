import { takeQuota } from '#domain/quotas/use/take.ts';
import { findTemplateOwner } from '#domain/registry/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Invalid, invalidField, Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { digestInThread } from '#domain/shared/values/digest.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';
import { InstanceSlot } from '../entity.ts';
import { JsonError } from '../state-file/json-cursor.ts';
import { maxOutputBytes, parseOutputs } from '../state-file/outputs.ts';
import { maxResources, readStateFileInTurns, type StateFile } from '../state-file/state-file.ts';
import { clearUnrecorded } from '../writer.ts';
import { addStateVersion, lockAndReadInstance } from './state.ts';

/** The largest state that can be imported. */
export const maxImportBytes = 64 * 1024 * 1024;

/** The largest serial of an imported state. Tools count up from it, and must never reach numbers that lose digits. */
export const maxSerial = Number.MAX_SAFE_INTEGER - 1_000_000;
const maxLineageLength = 1024;

/** A state that can be imported, with its original bytes. */
export interface ImportedState {
  readonly content: Buffer;
  readonly digest: string;
  readonly file: StateFile;
  readonly outputs: MaskedOutputs;
}

/**
 * Checks a state that somebody sent, before anything is locked.
 * @throws Invalid naming a member with a form that no tool writes, Unprocessable for a state that the service cannot list
 */
export async function readImportedState(content: Buffer): Promise<ImportedState> {
  const file = await readSentState(content);
  checkImportedState(file);
  const outputs = await parseOutputs(content, maxOutputBytes);
  if (outputs === null) throw new Unprocessable('outputs: expected at most 1 MiB of them', { code: 'state_too_large' });
  const problem = findUnstorable(outputs);
  if (problem) throw new Unprocessable(`outputs: the set of outputs ${problem}`, { code: 'state_unusable' });
  return { content, file, outputs, digest: await digestInThread(content) };
}

async function readSentState(content: Buffer): Promise<StateFile> {
  try {
    return await readStateFileInTurns(content);
  } catch (error) {
    if (error instanceof JsonError) throw new Invalid(`the body is not valid JSON: ${error.message}`);
    throw error;
  }
}

function checkImportedState({ kind, version, serial, lineage, problem, resourceCount }: StateFile): void {
  if (kind === 'encrypted')
    throw new Unprocessable('the state is encrypted: send it as `tofu state pull` prints it, which decrypts it', {
      code: 'state_unusable',
    });
  if (version !== '4') throw invalidField('version', 'expected an OpenTofu or Terraform state of format version 4');
  if (serial === null || !/^(?:0|[1-9]\d*)$/.test(serial)) throw invalidField('serial', 'expected a whole number');
  // A number beyond 2^53 is rounded to one that is still too large.
  if (Number(serial) > maxSerial)
    throw invalidField('serial', `expected at most ${maxSerial}: tools count on from it, and 2^53 is the end`);
  if (!lineage) throw invalidField('lineage', 'expected a text that is not empty');
  if (lineage.length > maxLineageLength)
    throw invalidField('lineage', `expected at most ${maxLineageLength} characters`);
  if (problem) throw new Invalid(problem);
  if (resourceCount > maxResources)
    throw new Unprocessable(`resources: expected at most ${maxResources}; split the state first`, {
      code: 'state_too_large',
    });
}

/**
 * Adopts existing infrastructure: stores a state byte for byte as the first one of an instance, and returns the serial that the service
 * gives it.
 * @throws Conflict if the instance already has state, if a run is changing it, or if its template was deleted
 */
export async function importFirstState(
  tx: Transaction,
  keyRing: KeyRing,
  instanceId: string,
  { outputs, ...state }: ImportedState,
  createdBy: string,
): Promise<number> {
  const instance = await lockAndReadInstance(tx.em, instanceId);
  if (instance.stateSerial > 0) {
    throw new Conflict(
      `the instance already has state (serial ${instance.stateSerial}): import works only into an instance without one. A state that was imported by mistake can be forgotten first, until a run changes the instance`,
      'state_exists',
    );
  }
  if (await tx.em.findOne(InstanceSlot, { instanceId })) {
    throw new Conflict('a run is changing the instance: wait for it, or cancel it', 'instance_busy');
  }
  if (!(await findTemplateOwner(tx.em, instance.templateId))) {
    throw new Conflict(
      'the template of the instance was deleted, so that no run could continue from the state: make an instance of another template',
      'template_gone',
    );
  }
  clearUnrecorded(instance);
  const serial = await addStateVersion(tx.em, keyRing, instance, {
    ...state,
    outputs: { outputs, secret: [], keepsNulls: false },
    runId: null,
    attempt: null,
    createdBy,
  });
  await tx.em.flush();
  const { teamId = null, environmentId = null } = instance;
  await takeQuota(tx, { teamId, environmentId }, { state_bytes: state.content.length });
  tx.publish({
    type: 'instance.state_imported',
    subjectId: instanceId,
    owners: { teamId: instance.teamId ?? null },
    data: { serial, resource_count: instance.resourceCount },
  });
  return serial;
}
