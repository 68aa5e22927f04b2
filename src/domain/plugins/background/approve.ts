import { sql } from 'kysely';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
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
 * Approves a principal that acts for a plugin at a place. It has no credential, no role, and no assignment. The caller has locked the owners of
 * the place and the installation. (specification, *Plugin action rules*)
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
  const now = sql<string>`clock_timestamp()`;
  await db(tx.em)
    .insertInto('principals')
    .values({ id, kind: 'background', name, role: null, enabled: true, createdAt: now })
    .execute();
  await db(tx.em)
    .insertInto('plugin_background_principals')
    .values({
      id,
      installationId: installation.id,
      selectorType: place.selector.type,
      selectorId: place.selector.id,
      scopeBasis: place.ownerChain,
      ownerId: share.ownerId,
      approvedBy: caller.id,
      revision: 1,
      createdAt: now,
    })
    .execute();
  return { id, revision: 1 };
}

/** Permanently ends a background principal with all its assignments. The caller has locked its row. */
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
  const revision = background.revision + 1;
  const now = sql<string>`clock_timestamp()`;
  await db(tx.em)
    .updateTable('plugin_background_principals')
    .set({ revokedAt: now, revokedBy: caller.id, revision })
    .where('id', '=', background.id)
    .execute();
  await db(tx.em)
    .updateTable('principals')
    .set(({ ref }) => ({
      enabled: false,
      eligibilityGeneration: sql<number>`${ref('eligibilityGeneration')} + 1`,
      revision: sql<number>`${ref('revision')} + 1`,
    }))
    .where('id', '=', background.id)
    .execute();
  return revision;
}
