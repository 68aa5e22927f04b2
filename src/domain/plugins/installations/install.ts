import { brokenConstraint } from '#database/errors.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { PluginInstallation } from '../entity.ts';
import { pluginLimits, refuseBeyondPluginLimit } from '../limit-store.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import type { Place } from '../places/place-store.ts';

/** Installs a plugin in an organization or a team, whose rows the caller has locked. It declares nothing until a release is activated. */
export async function installPlugin(
  tx: Transaction,
  caller: Principal,
  owner: Place,
  { name, expectedOwnership }: { readonly name: string; readonly expectedOwnership: OwnershipSnapshot },
): Promise<{ id: string; revision: number }> {
  refuseArchived(owner);
  refuseOtherOwnership(owner, expectedOwnership);
  const [ownerId, limit] =
    owner.teamId === null
      ? ([owner.organizationId, pluginLimits.pluginsOfOrganization] as const)
      : ([owner.teamId, pluginLimits.pluginsOfTeam] as const);
  await refuseBeyondPluginLimit(tx.em, ownerId, limit);
  const id = newId();
  const columns = owner.teamId === null ? { organizationId: owner.organizationId } : { teamId: owner.teamId };
  const row = tx.em.create(PluginInstallation, { id, ...columns, name, createdBy: caller.id });
  try {
    await tx.em.persist(row).flush();
  } catch (error) {
    if (brokenConstraint(error) !== 'plugin_installations_owner_name_unique') throw error;
    throw new Conflict(`name: a plugin "${name}" is installed there already: choose another name`, 'name_taken');
  }
  return { id, revision: 1 };
}
