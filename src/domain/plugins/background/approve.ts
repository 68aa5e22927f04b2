import { readForChange } from '#database/row-lock.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { PluginBackgroundPrincipal } from '../entity.ts';
import { type InstallationTarget, refuseRemoved } from '../installations/store.ts';
import { pluginShares, refuseBeyondShare, shareOf } from '../limit-store.ts';
import { findRevokedRefusal } from '../model.ts';
import { isInScope } from '../places/containment.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import type { Place } from '../places/place-store.ts';
import { type BackgroundDetails, uncountEndedBackground } from './store.ts';

export interface NewBackgroundPrincipal {
  readonly name: string;
  readonly target: InstallationTarget;
  readonly place: Place;
  readonly expectedInstallationRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/**
 * Approves a principal that acts for a plugin at a place. It has no credential, no role, and no assignment. The caller has locked the
 * owners of the place and the installation. (specification, *Plugin action rules*)
 */
export async function approveBackgroundPrincipal(
  tx: Transaction,
  caller: Principal,
  { name, target, place, expectedInstallationRevision, expectedOwnership }: NewBackgroundPrincipal,
): Promise<{ id: string; revision: number }> {
  const { installation } = target;
  refuseRemoved(installation);
  refuseArchived(target);
  refuseArchived(place);
  refuseStale(installation, expectedInstallationRevision, 'expected_installation_revision');
  refuseOtherOwnership(place, expectedOwnership);
  if (!isInScope(target, place))
    throw invalidField('selector', 'it does not belong to the organization or team that installed the plugin');
  const share = shareOf(installation.id, place);
  await refuseBeyondShare(tx.em, share, pluginShares.backgroundPrincipals, uncountEndedBackground);
  const id = newId();
  await tx.em.persist(tx.em.create(PrincipalRecord, { id, kind: 'background', name })).flush();
  const background = tx.em.create(PluginBackgroundPrincipal, {
    id,
    installationId: installation.id,
    selectorType: place.selector.type,
    selectorId: place.selector.id,
    scopeBasis: place.ownerChain,
    ownerId: share.ownerId,
    approvedBy: caller.id,
  });
  await tx.em.persist(background).flush();
  return { id, revision: 1 };
}

/**
 * Permanently ends a background principal with all its assignments. The caller has locked its row, without which nobody changes the
 * principal.
 */
export async function revokeBackgroundPrincipal(
  tx: Transaction,
  caller: Principal,
  background: BackgroundDetails,
  place: Place,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<number> {
  refuseStale(background, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  throwIfRefused(findRevokedRefusal(background, 'background principal'));
  (await readForChange(tx.em, PrincipalRecord, { id: background.id })).change({ enabled: false });
  const revocation = { revokedAt: new Date(), revokedBy: caller.id };
  return saveChange(tx.em, PluginBackgroundPrincipal, background, revocation);
}
