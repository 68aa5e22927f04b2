import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { PluginInstallation } from '../entity.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import { countPresent } from '../resources/store.ts';
import { findRemovalRefusal, type InstallationDetails, type InstallationTarget } from './store.ts';

/**
 * Removes a plugin permanently. This ends all its assignments, background principals and ceilings, because they rely on an installation
 * that is not deleted. They stay readable. The removal only takes authority away, so it is allowed even if the owner is archived. The
 * caller has locked the installation for a change, so that nobody registers or restores a resource of it at the same time.
 * @throws Conflict with `in_use` while the organization or the team that installed the plugin has resources of it that are not deleted
 */
export async function removePlugin(
  tx: Transaction,
  caller: Principal,
  { installation, place }: InstallationTarget,
  { expectedRevision, expectedOwnership }: { expectedRevision: number; expectedOwnership: OwnershipSnapshot },
): Promise<{ id: string; revision: number }> {
  throwIfRefused(findRemovalRefusal(installation));
  refuseStale(installation, expectedRevision);
  refuseOtherOwnership(place, expectedOwnership);
  await refuseResources(tx, installation);
  const removal = { deletedAt: new Date(), deletedBy: caller.id };
  const revision = await saveChange(tx.em, PluginInstallation, installation, removal);
  return { id: installation.id, revision };
}

async function refuseResources(tx: Transaction, installation: InstallationDetails): Promise<void> {
  const count = await countPresent(tx.em, installation);
  if (count === 0) return;
  throw new Conflict(
    `the plugin has ${count === 1 ? 'one resource' : `${count} resources`}: delete ${count === 1 ? 'it' : 'them'} first`,
    'in_use',
  );
}
