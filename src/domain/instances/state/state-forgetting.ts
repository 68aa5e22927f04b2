import { db } from '#domain/db.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, NotFound } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { hasIncompleteApply } from '../conditions-store.ts';
import { type Instance, InstanceSlot } from '../entity.ts';
import { recordNoResources } from '../resources/resources.ts';
import type { InstanceTarget } from '../store.ts';
import { lockAndReadInstance } from './state.ts';
import { readStateVersion } from './version-store.ts';

/** The state that an instance had, and the revision of the instance without it. */
export interface ForgottenState {
  readonly serial: number;
  readonly resourceCount: number;
  readonly revision: number;
}

/**
 * Undoes the import of a state: the instance has no resources again, and can take another state or be deleted. The real resources are not
 * changed. The state version stays as history, and its serial is not used again.
 * @throws NotFound if the instance has no state
 * @throws Conflict for a stale revision, if a run is changing the instance, or if one may have changed it since the import
 */
export async function forgetImportedState(
  tx: Transaction,
  { id, teamId, organizationId }: InstanceTarget,
  expectedRevision: number | undefined,
): Promise<ForgottenState> {
  const instance = await lockAndReadInstance(tx.em, id);
  refuseStale(instance, expectedRevision);
  const { stateSerial: serial, resourceCount } = instance;
  if (serial === 0) throw new NotFound('a state of this instance');
  if (await tx.em.findOne(InstanceSlot, { instanceId: id }))
    throw new Conflict('a run is changing the instance: wait for it, or cancel it', 'instance_busy');
  if (!(await isAsImported(tx, instance)))
    throw new Conflict(
      'a run has changed the instance, or may have: only an imported state that no run has changed can be forgotten; destroy what the instance holds instead',
      'state_not_forgettable',
    );
  await clearState(tx, instance);
  const data = { serial, resource_count: resourceCount };
  tx.publish({ type: 'instance.state_forgotten', subjectId: id, owners: { teamId, organizationId }, data });
  return { serial, resourceCount, revision: instance.revision };
}

/** Whether the latest state was imported, and no run has applied to the instance, not even in part. */
async function isAsImported(
  { em }: Transaction,
  { id, stateSerial, deployedRunId = null }: Instance,
): Promise<boolean> {
  if (deployedRunId !== null || (await readStateVersion(em, id, stateSerial))?.runId !== null) return false;
  const incomplete = await db(em)
    .selectFrom('instances as i')
    .where('i.id', '=', id)
    .where((eb) => hasIncompleteApply(eb.ref('i.id')))
    .select('i.id')
    .executeTakeFirst();
  return incomplete === undefined;
}

async function clearState({ em }: Transaction, instance: Instance): Promise<void> {
  instance.stateSerial = 0;
  instance.resourcesSerial = 0;
  instance.outputs = {};
  instance.sealedOutputs = null;
  await recordNoResources(em, instance);
  instance.revision += 1;
  await em.flush();
}
