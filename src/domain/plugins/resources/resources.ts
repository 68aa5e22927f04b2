import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { findArchivedRefusal, refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { PluginResource } from '../entity.ts';
import {
  findInstallation,
  findRemovedRefusal,
  type InstallationTarget,
  refuseRemoved,
} from '../installations/store.ts';
import { pluginShares, refuseBeyondShare } from '../limit-store.ts';
import { readDeclarations } from '../manifests/store.ts';
import { isOwnerInScope } from '../places/containment.ts';
import { type OwnershipSnapshot, ownerNamesOf, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import type { Place } from '../places/place-store.ts';
import { isKeyInUse, isKeyOfOtherTeam, markDeleted, markRestored, type ResourceDetails } from './store.ts';

export interface NewResource {
  readonly type: string;
  readonly name: string;
  readonly key: string;
  readonly expectedOwnership: OwnershipSnapshot;
}

/**
 * Registers a resource of a plugin for a team, a project or an environment. The key of a deleted resource stays reserved for its team,
 * because its data may still exist. The caller has checked that the plugin is installed for the owner, and has locked the owners and the
 * installation.
 */
export async function createResource(
  tx: Transaction,
  caller: Principal,
  target: InstallationTarget,
  owner: Place,
  { type, name, key, expectedOwnership }: NewResource,
): Promise<{ id: string; revision: number }> {
  const { installation } = target;
  refuseRemoved(installation);
  refuseArchived(owner);
  refuseOtherOwnership(owner, expectedOwnership);
  const manifest = await readDeclarations(tx.em, installation.id, installation.activeRelease);
  const declared = manifest?.resources.find((each) => each.type === type);
  if (!declared) throw invalidField('type', `the active release declares no resources of the type "${type}"`);
  const { projectId, environmentId } = owner;
  const teamId = teamOf(owner);
  const row = { installationId: installation.id, teamId, type, name, key, roots: declared.roots, createdBy: caller.id };
  await refuseFullShare(tx, row);
  const id = newId();
  if (await isKeyOfOtherTeam(tx.em, row)) throw new Conflict(keyTaken, 'name_taken');
  await refuseTakenKey(keyTaken, () =>
    tx.em.persist(tx.em.create(PluginResource, { id, ...row, projectId, environmentId })).flush(),
  );
  return { id, revision: 1 };
}

function teamOf({ teamId }: Place): string {
  if (teamId === null) throw new Error('a resource is registered for a team, or for what a team owns');
  return teamId;
}

/**
 * Deletes a resource, which ends all assignments to it. The plugin's data stays unchanged. The plugin need not be installed for the team
 * any longer: otherwise a team that was moved to another organization could not be deleted. The caller has locked owners and resource.
 */
export async function deleteResource(
  tx: Transaction,
  resource: ResourceDetails,
  place: Place,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<number> {
  refuseStale(resource, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  throwIfRefused(findDeletedRefusal(resource));
  await markDeleted(tx.em, resource, ownerNamesOf(place));
  return resource.revision + 1;
}

/** Why a resource cannot be deleted; null if it can be. */
export function findDeletedRefusal({ deletedAt }: Pick<ResourceDetails, 'deletedAt'>): Refusal | null {
  return deletedAt === null ? null : { code: 'plugin_resource_deleted', message: 'the resource is deleted already' };
}

/** The rows that decide whether a resource can be restored. */
export interface RestorationFacts {
  readonly resource: ResourceDetails;
  /** The resource with its present owners. */
  readonly place: Place;
  /** The installation of the resource; undefined if its owner was deleted. */
  readonly target: InstallationTarget | undefined;
}

/**
 * Refuses a restoration if the caller has read an earlier state, or if `findRestorationRefusal` finds a reason.
 * @throws Conflict
 */
export async function refuseRestoration(
  em: Em,
  facts: RestorationFacts,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<void> {
  refuseStale(facts.resource, expectedRevision);
  refuseOtherOwnership(facts.place, expectedOwnership);
  throwIfRefused(await findRestorationRefusal(em, facts));
}

/** Why the registry refuses to restore a resource; null if it does not. It does not compare revisions, and does not check roots. */
export async function findRestorationObstacle(
  em: Em,
  place: Place & { readonly resource: ResourceDetails },
): Promise<Refusal | null> {
  const target = await findInstallation(em, place.resource.installationId);
  return findRestorationRefusal(em, { resource: place.resource, place, target });
}

/** Why a resource cannot be restored, apart from its roots (specification, *Plugin authority*, rule 4). */
async function findRestorationRefusal(em: Em, facts: RestorationFacts): Promise<Refusal | null> {
  const { resource, place, target } = facts;
  if (resource.deletedAt === null)
    return { code: 'plugin_resource_not_deleted', message: 'the resource is not deleted' };
  if (!target) return { code: 'plugin_parent_changed', message: 'the plugin is no longer installed' };
  return (
    findParentRefusal(resource, place, target) ??
    (await findDeclarationRefusal(em, resource, target)) ??
    (await findKeyRefusal(em, resource))
  );
}

function findParentRefusal(resource: ResourceDetails, place: Place, target: InstallationTarget): Refusal | null {
  const removed = findRemovedRefusal(target.installation);
  if (removed) return removed;
  const changed = (message: string) => ({ code: 'plugin_parent_changed', message }) as const;
  if (!place.hasOwners) return changed('an owner of the resource was deleted since');
  const archived = findArchivedRefusal(place);
  if (archived) return archived;
  if (!isDeepStrictEqual(resource.deletedFrom, ownerNamesOf(place)))
    return changed('the resource belonged to others when it was deleted');
  if (isOwnerInScope(target, place)) return null;
  return changed('the resource no longer belongs to the organization or team that installed the plugin');
}

async function findDeclarationRefusal(
  em: Em,
  resource: ResourceDetails,
  target: InstallationTarget,
): Promise<Refusal | null> {
  const manifest = await readDeclarations(em, resource.installationId, target.installation.activeRelease);
  const declared = manifest?.resources.find(({ type }) => type === resource.type);
  if (declared && isDeepStrictEqual(declared.roots, resource.roots)) return null;
  const message = `the active release does not declare the type "${resource.type}" with the same roots`;
  return { code: 'plugin_declaration_changed', message };
}

async function findKeyRefusal(em: Em, resource: ResourceDetails): Promise<Refusal | null> {
  return (await isKeyInUse(em, resource)) ? keyInUse : null;
}

const keyInUse = {
  code: 'name_taken',
  message: 'another resource was registered under its key meanwhile: it can be restored once that one is deleted',
} as const;

/** Restores a deleted resource. This gives nobody any authority. The caller has checked all rules, and has locked owners and resource. */
export async function restoreResource(tx: Transaction, resource: ResourceDetails): Promise<void> {
  await refuseFullShare(tx, resource);
  await refuseTakenKey(keyInUse.message, () => markRestored(tx.em, resource));
}

function refuseFullShare(
  tx: Transaction,
  { installationId, teamId }: Pick<ResourceDetails, 'installationId' | 'teamId'>,
): Promise<void> {
  return refuseBeyondShare(tx.em, { installationId, ownerId: teamId, isOfTeam: true }, pluginShares.resources);
}

/** The message does not name the resource with the key, which may belong to a team that the caller may not read. */
const keyTaken = 'key: it is taken for resources of this type: choose another one';

async function refuseTakenKey(message: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (brokenConstraint(error) !== 'plugin_resources_key_unique') throw error;
    throw new Conflict(message, 'name_taken');
  }
}
