import { brokenConstraint } from '#database/errors.ts';
import { takeQuota } from '#domain/quotas/use/take.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type Archivable, refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { deleteOwned } from '#domain/shared/ownership-graph/deletion.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { intersectDemand, isEmptyDemand, noDemands } from '#domain/tools/demand.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { InstanceSlot } from './entity.ts';
import { refreshListIfStale } from './resources/resource-list-repair.ts';
import { lockAndReadInstance } from './state/state.ts';
import { addInstance, freeName, type InstanceTarget, isUnfinished } from './store.ts';

/** The place of a new instance. The caller holds share locks on the rows of the template and of all owners. */
interface InstancePlace extends Ownership, Archivable {
  readonly templateId: string;
  readonly environmentId: string | null;
  /** The tool that the environment demands; null: it demands none. */
  readonly tool: WantedTool | null;
}

const nameConstraints: readonly (string | undefined)[] = [
  'instances_environment_name_unique',
  'instances_template_name_unique',
];

interface NewInstanceRequest {
  readonly name: string;
  /** The tool that its runs use, which must fit the demands of template and environment. */
  readonly tool?: WantedTool | undefined;
}

/**
 * Creates an instance without resources, and returns its id.
 * @throws Conflict for something archived, a name that is taken, or a tool that contradicts that of the environment
 */
export async function createInstance(
  tx: Transaction,
  place: InstancePlace,
  { name, tool }: NewInstanceRequest,
): Promise<string> {
  refuseArchived(place);
  refuseOtherTool(place, tool);
  const { templateId, environmentId, teamId, organizationId } = place;
  const id = newId();
  try {
    await addInstance(tx.em, { id, teamId, environmentId, templateId, name, wantedTool: tool ?? null });
  } catch (error) {
    if (!nameConstraints.includes(brokenConstraint(error))) throw error;
    const where = environmentId === null ? 'the template, without an environment,' : 'the environment';
    throw new Conflict(`name: ${where} has an instance "${name}" already: choose another name`, 'name_taken');
  }
  await takeQuota(tx, { teamId, environmentId }, { instances: 1 });
  const data = { name, template_id: templateId, environment_id: environmentId };
  tx.publish({ type: 'instance.created', subjectId: id, owners: { teamId, organizationId }, data });
  return id;
}

/** @throws Conflict `tool_conflict` */
function refuseOtherTool({ tool: ofEnvironment }: InstancePlace, tool: WantedTool | undefined): void {
  const wanted = [
    { by: 'environment', tool: ofEnvironment },
    { by: 'instance', tool },
  ] as const;
  const demand = intersectDemand({ files: noDemands, wanted, writer: null });
  if (isEmptyDemand(demand)) throw new Conflict(`tool: no tool could run it: ${demand.conflict}`, 'tool_conflict');
}

/**
 * Deletes an instance without resources, and returns its last revision. Its name is free again. Its runs, its state versions and the
 * tombstone of its row stay, as history. The caller has locked its row.
 * @throws Conflict for a stale revision, or naming everything that prevents the deletion
 */
export async function deleteInstance(
  tx: Transaction,
  keyRing: KeyRing,
  { id, name, revision, teamId, organizationId }: InstanceTarget,
  expectedRevision: number | undefined,
): Promise<number> {
  refuseStale({ revision }, expectedRevision);
  // Its latest state may come from an earlier release that listed no resources.
  await refreshListIfStale(tx.em, keyRing, await lockAndReadInstance(tx.em, id));
  await tx.em.flush();
  const last = await deleteOwned(tx.em, 'instance', { id }, () => true);
  await freeName(tx.em, id);
  tx.publish({ type: 'instance.deleted', subjectId: id, owners: { teamId, organizationId }, data: { name } });
  return last;
}

/**
 * Frees the slot of an instance that a finished run still holds. Normally the slot is freed when the run ends, so this is a repair.
 * @throws Conflict if no run holds the slot, or if the run that holds it has not ended: cancel that run instead
 */
export async function unlockInstance(tx: Transaction, instanceId: string, owners: Ownership): Promise<void> {
  const slot = await tx.em.findOne(InstanceSlot, { instanceId });
  if (!slot) throw new Conflict('the instance is not locked', 'instance_not_locked');
  if (await isUnfinished(tx.em, slot.runId))
    throw new Conflict(
      `run ${slot.runId} holds the instance: cancel it (with force, if its worker is gone)`,
      'instance_busy',
    );
  await tx.em.remove(slot).flush();
  tx.publish({ type: 'instance.unlocked', subjectId: instanceId, owners, data: { run_id: slot.runId } });
}
