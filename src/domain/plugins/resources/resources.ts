import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { PluginResource } from '../entity.ts';
import type { InstallationTarget } from '../installations/store.ts';
import { pluginLimits, refuseBeyondPluginLimit } from '../limit-store.ts';
import { readDeclarations } from '../manifests/store.ts';
import { isInScope } from '../places/containment.ts';
import { type OwnershipSnapshot, ownerNamesOf, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import type { Place } from '../places/place-store.ts';
import { markDeleted, markRestored, type ResourceDetails } from './store.ts';

export interface NewResource {
  readonly type: string;
  readonly name: string;
  readonly key: string;
  readonly expectedOwnership: OwnershipSnapshot;
}

/** Registers a resource of a plugin for a team, a project or an environment. The caller has locked the owners and the installation. */
export async function createResource(
  tx: Transaction,
  caller: Principal,
  target: InstallationTarget,
  owner: Place,
  { type, name, key, expectedOwnership }: NewResource,
): Promise<{ id: string; revision: number }> {
  const { installation, organizationId } = target;
  refuseArchived(owner);
  refuseOtherOwnership(owner, expectedOwnership);
  if (!isInScope({ id: installation.id, teamId: installation.teamId, organizationId }, owner))
    throw invalidField('installation_id', 'the plugin is installed by another organization or team');
  const manifest = await readDeclarations(tx.em, installation.id, installation.activeRelease);
  const declared = manifest?.resources.find((each) => each.type === type);
  if (!declared) throw invalidField('type', `the active release declares no resources of the type "${type}"`);
  const { teamId, projectId, environmentId } = owner;
  const row = { installationId: installation.id, type, name, key, roots: declared.roots, createdBy: caller.id };
  await refuseBeyondPluginLimit(tx.em, installation.id, pluginLimits.resources);
  const id = newId();
  await refuseTakenKey(key, () =>
    tx.em.persist(tx.em.create(PluginResource, { id, ...row, teamId: teamId ?? '', projectId, environmentId })).flush(),
  );
  return { id, revision: 1 };
}

/** Deletes a resource, which ends all assignments to it. The plugin's data stays as it is. The caller has locked owners and resource. */
export async function deleteResource(
  tx: Transaction,
  resource: ResourceDetails,
  place: Place,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<number> {
  refuseStale(resource, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  if (resource.deletedAt !== null) throw new Conflict('the resource is deleted already', 'plugin_resource_deleted');
  await markDeleted(tx.em, resource, ownerNamesOf(place));
  return resource.revision + 1;
}

/**
 * What keeps a resource from being restored, but for its roots (specification, *Plugin authority*, rule 4).
 * @throws Conflict
 */
export async function refuseRestoration(
  em: Em,
  resource: ResourceDetails,
  place: Place,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
  activeRelease: string | null,
): Promise<void> {
  refuseStale(resource, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  if (resource.deletedAt === null) throw new Conflict('the resource is not deleted', 'plugin_resource_not_deleted');
  if (!place.hasOwners) throw new Conflict('an owner of the resource was deleted since', 'plugin_parent_changed');
  refuseArchived(place);
  if (!isDeepStrictEqual(resource.deletedFrom, ownerNamesOf(place)))
    throw new Conflict('the resource belonged to others when it was deleted', 'plugin_parent_changed');
  const manifest = await readDeclarations(em, resource.installationId, activeRelease);
  const declared = manifest?.resources.find(({ type }) => type === resource.type);
  if (!declared || !isDeepStrictEqual(declared.roots, resource.roots))
    throw new Conflict(
      `the active release does not declare the type "${resource.type}" with the same roots`,
      'plugin_declaration_changed',
    );
}

/** Makes a deleted resource exist again. It gives nobody anything. The caller has checked everything, and locked owners and resource. */
export async function restoreResource(tx: Transaction, resource: ResourceDetails): Promise<void> {
  await refuseTakenKey(resource.key, () => markRestored(tx.em, resource));
}

async function refuseTakenKey(key: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (brokenConstraint(error) !== 'plugin_resources_key_unique') throw error;
    throw new Conflict(`key: another resource of the type has the key "${key}"`, 'name_taken');
  }
}
