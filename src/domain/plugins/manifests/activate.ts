import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { noteEnd } from '#domain/shared/access/ended-eligibility-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { PluginInstallation } from '../entity.ts';
import { type InstallationTarget, refuseRemoved } from '../installations/store.ts';
import type { Manifest } from '../model.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import { parseManifest } from './manifest.ts';
import { findRelease } from './store.ts';

export interface Activation {
  readonly release: string;
  readonly expectedRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/**
 * Activates a release of a plugin, or the same one again; it ends all assignments and makes the ceiling stale, since it raises the revision
 * of the installation. It starts no code. The caller has locked the installation for a change.
 */
export async function activateRelease(
  tx: Transaction,
  caller: Principal,
  target: InstallationTarget,
  { release, expectedRevision, expectedOwnership }: Activation,
): Promise<{ id: string; revision: number }> {
  const { installation } = target;
  refuseRemoved(installation);
  refuseArchived(target);
  refuseStale(installation, expectedRevision);
  refuseOtherOwnership(target.place, expectedOwnership);
  const known = await findRelease(tx.em, installation.id, release);
  if (!known)
    throw new Conflict(
      `release: the installation knows no release ${release}: stage it first`,
      'plugin_release_unknown',
    );
  const revision = await saveChange(tx.em, PluginInstallation, installation, { activeRelease: release });
  await noteEnd(tx.em, caller, [installation.id], installation.revision);
  await declareActions(tx.em, installation.id, known.manifest && parseManifest(known.manifest));
  return { id: installation.id, revision };
}

/** Writes the declarations of the active release. An action that it no longer declares keeps its row and its id. */
export async function declareActions(em: Em, installationId: string, manifest: Manifest | null): Promise<void> {
  await db(em)
    .updateTable('plugin_actions')
    .set({ isDeclared: false })
    .where('installationId', '=', installationId)
    .execute();
  const rows = (manifest?.actions ?? []).map(({ name, selectors, effects }) => ({
    id: newId(),
    installationId,
    name,
    selectors: json(selectors),
    effects: json(effects),
    isDeclared: true,
    revision: 1,
  }));
  if (rows.length === 0) return;
  await db(em)
    .insertInto('plugin_actions')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['installationId', 'name']).doUpdateSet(({ ref }) => ({
        selectors: ref('excluded.selectors'),
        effects: ref('excluded.effects'),
        isDeclared: true,
        revision: sql<number>`${ref('plugin_actions.revision')} + 1`,
      })),
    )
    .execute();
}
