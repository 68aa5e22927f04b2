import { readForChange } from '#database/row-lock.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { withRole } from '#domain/shared/access/weakest-role.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { ceilingAdministration } from '../authority.ts';
import { PluginRelease } from '../entity.ts';
import { type InstallationTarget, refuseRemoved } from '../installations/store.ts';
import { pluginLimits, refuseBeyondPluginLimit } from '../limit-store.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import { declareActions } from './activate.ts';
import type { ReadManifest } from './manifest.ts';
import { findRelease } from './store.ts';

export interface StagedRelease {
  readonly release: string;
  readonly digest: string;
  /** Undefined: only the digest is known. */
  readonly read: ReadManifest | undefined;
  readonly expectedRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/**
 * Registers a release for an installation, byte for byte, or adds the manifest of a release whose digest is known. A release never changes.
 * The caller has locked the installation for a change.
 * @throws Forbidden if the manifest names tables of the service's database and the caller may not change ceilings
 */
export async function stageRelease(
  tx: Transaction,
  caller: Principal,
  target: InstallationTarget,
  { release, digest, read, expectedRevision, expectedOwnership }: StagedRelease,
): Promise<{ id: string; revision: number }> {
  const { installation } = target;
  refuseRemoved(installation);
  refuseArchived(target);
  refuseStale(installation, expectedRevision);
  refuseOtherOwnership(target.place, expectedOwnership);
  if (read) refuseRoots(caller, read);
  const known = await findRelease(tx.em, installation.id, release);
  if (known && known.digest !== digest)
    throw new Conflict(`digest: the release ${release} has the digest ${known.digest}`, 'plugin_release_differs');
  // A release that was already staged stays unchanged, with its author and time.
  if (known && (!read || known.manifest)) return { id: installation.id, revision: installation.revision };
  if (known) await addManifest(tx, known.id, caller, read);
  else await insertRelease(tx, installation.id, caller, { release, digest, read });
  if (read && release === installation.activeRelease) await declareActions(tx.em, installation.id, read.manifest);
  return { id: installation.id, revision: installation.revision };
}

/** Refuses a manifest with roots unless the caller may decide for the installation, because restoring a resource reads the named tables. */
function refuseRoots(caller: Principal, { manifest }: ReadManifest): void {
  const namesTables = manifest.resources.some(({ roots }) => roots.length > 0);
  if (!namesTables || decidePermission(caller, ceilingAdministration).allowed) return;
  throw new Forbidden(`permission denied: a manifest that names SQL roots needs ${withRole('settings.manage')}`);
}

async function addManifest(tx: Transaction, id: string, caller: Principal, read: ReadManifest | undefined) {
  const row = await readForChange(tx.em, PluginRelease, { id });
  Object.assign(row, { manifest: read?.bytes ?? null, stagedBy: caller.id, stagedAt: new Date() });
  await tx.em.flush();
}

async function insertRelease(
  tx: Transaction,
  installationId: string,
  caller: Principal,
  { release, digest, read }: Pick<StagedRelease, 'release' | 'digest' | 'read'>,
): Promise<void> {
  await refuseBeyondPluginLimit(tx.em, installationId, pluginLimits.releases);
  const row = { installationId, release, digest, manifest: read?.bytes ?? null, stagedBy: caller.id };
  await tx.em.persist(tx.em.create(PluginRelease, { id: newId(), stagedAt: new Date(), ...row })).flush();
}
