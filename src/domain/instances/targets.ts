import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { findInstanceOwner, findInstanceScope, type InstanceTarget, lockInstanceRow } from './store.ts';

/** An instance and its owner. A command locks its row. */
export async function findInstance(em: Em, id: string, lock = false): Promise<InstanceTarget | undefined> {
  if (lock) await lockInstanceRow(em, id);
  return findInstanceOwner(em, id);
}

/**
 * The same for importing state: the owners of the instance are shared before its row is locked, so that they are neither
 * archived nor deleted meanwhile. Also returns undefined if the owner was deleted.
 */
export async function findInstanceForImport(
  em: Em,
  id: string,
  lock = false,
): Promise<(InstanceTarget & Archivable) | undefined> {
  const scope = await findInstanceScope(em, id);
  if (!scope) return undefined;
  const owner = await findScopeOwner(em, scope, lock);
  const instance = owner && (await findInstance(em, id, lock));
  return instance && { ...instance, archived: owner.archived };
}

async function findScopeOwner(
  em: Em,
  { teamId, environmentId }: { teamId: string | null; environmentId: string | null },
  lock: boolean,
): Promise<Archivable | undefined> {
  if (environmentId) return findEnvironment(em, environmentId, lock);
  return teamId ? findTeamById(em, teamId, lock) : { archived: [] };
}
