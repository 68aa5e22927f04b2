import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Instance } from '#domain/instances/entity.ts';
import { recordNoResources, recordUnseenResource } from '#domain/instances/resources/resources.ts';
import { lockAndReadInstance } from '#domain/instances/state/state.ts';
import { clearUnrecorded } from '#domain/instances/writer.ts';
import { recordDeployedRun } from '../deletion/erasure.ts';
import { Run } from '../entity.ts';
import { isPartial } from '../options/model.ts';

/**
 * Records a state that a run wrote while it applied. A run normally becomes the deployment of its instance only once it has succeeded. If
 * nothing is deployed, it becomes the deployment now: a destroy and the time to live need inputs that fit the new resources, and only this
 * run has them. The caller has locked the instance.
 */
export async function recordBegunDeployment(em: Em, instance: Instance, run: Run): Promise<void> {
  const deployed = instance.deployedRunId ? await em.findOne(Run, { id: instance.deployedRunId }) : null;
  const holdsDeployment = deployed && deployed.operation !== 'destroy' && deployed.templateId === run.templateId;
  if (!holdsDeployment) await recordDeployedRun(em, instance, run.id);
}

/**
 * Records that a run has applied. The states that a tool wrote have already recorded the resources of the instance. For a command, or a
 * template that encrypts its state, something counts as deployed only if the run succeeds. A partial run leaves the last deployment as it
 * was, since it has not applied all variables: the instance then differs from that deployment. If nothing was deployed before, a partial
 * run becomes the deployment, since only its inputs fit the new resources.
 * @param resourceCount undefined: the number of resources is not known
 */
export async function recordDeployment(em: Em, run: Run, resourceCount: number | undefined): Promise<void> {
  const instance = await lockAndReadInstance(em, run.instanceId);
  const isUnseen = resourceCount === undefined;
  const isPart = isPartial(run.options);
  if (!isPart || !instance.deployedRunId) await recordDeployedRun(em, instance, run.id);
  if (!isPart) clearUnrecorded(instance);
  else if (run.operation !== 'refresh') markIncomplete(instance, run);
  if (isUnseen && run.operation !== 'destroy') await recordUnseenResource(em, instance);
  else if (!isPart && (isUnseen || instance.stateSerial === 0)) await recordNoResources(em, instance);
}

/** Records the first run since which the deployment is incomplete; a later run does not replace it. */
function markIncomplete(instance: Instance, { id }: Run): void {
  if (instance.unrecordedRunId !== null) return;
  instance.unrecordedRunId = id;
  instance.unrecordedAt = new Date();
  instance.revision += 1;
}

/**
 * Records that nothing was left to change. An apply is the last deployment all the same: its version and inputs are those that the instance
 * now has. A scan that a person started and every other whole run have seen all that is there, so nothing is unrecorded any longer.
 */
export async function recordUnchanged(em: Em, run: Run): Promise<void> {
  // A switch of the tool may still wait for approvals, and it leaves the deployment as it is.
  if (run.operation === 'plan' || isPartial(run.options) || run.toolSwitch) return;
  const instance = await lockAndReadInstance(em, run.instanceId);
  if (run.operation === 'scan') return recordScanned(instance, run);
  if (run.operation === 'apply') await recordDeployedRun(em, instance, run.id);
  clearUnrecorded(instance);
}

/** Records that a scan that a person started has compared the whole instance with its state, unless a newer state exists. */
export async function recordScan(em: Em, run: Run): Promise<void> {
  recordScanned(await lockAndReadInstance(em, run.instanceId), run);
}

/**
 * A scan that a schedule started does not clear the mark, because no person has checked the instance, and a scan does not find resources
 * that are missing in the state.
 */
function recordScanned(instance: Instance, { stateSerialBefore, requestedByType }: Run): void {
  if (requestedByType === 'system') return;
  if ((stateSerialBefore ?? 0) === instance.stateSerial) clearUnrecorded(instance);
}

/** Records that a run has ended without success after it began to apply: the instance may differ from its last deployment. */
export async function recordIncomplete(em: Em, { id, instanceId }: Run): Promise<void> {
  await db(em)
    .updateTable('instances')
    .where('id', '=', instanceId)
    .where('unrecordedRunId', 'is', null)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('run_attempts as a')
          .where('a.runId', '=', id)
          .where('a.phase', '=', 'applying')
          .where('a.workerId', 'is not', null)
          .select('a.id'),
      ),
    )
    .set((eb) => ({ unrecordedRunId: id, unrecordedAt: new Date(), revision: eb('revision', '+', 1) }))
    .execute();
}
