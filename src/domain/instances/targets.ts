import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { shareTemplate } from '#domain/registry/store.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { findInstanceOwner, findInstanceScope, type InstanceTarget, lockInstance } from './store.ts';

/** The parameters for finding an instance for a caller. A command locks its row. */
interface InstanceLookup {
  readonly em: Em;
  readonly params: { readonly id: string };
  readonly callerId: string;
  readonly lock: boolean;
}

/** An instance and its owner. */
export async function findInstance({
  em,
  params: { id },
  callerId,
  lock,
}: InstanceLookup): Promise<InstanceTarget | undefined> {
  if (lock) await lockInstance(em, id);
  return findInstanceOwner(em, id, callerId);
}

/**
 * Finds an instance for an import of state or a deletion. It takes share locks on the owners before it locks the row, so that they are
 * neither archived nor deleted meanwhile. Also returns undefined if the owner was deleted.
 */
export async function findInstanceToChange(lookup: InstanceLookup): Promise<(InstanceTarget & Archivable) | undefined> {
  const { em, params, lock } = lookup;
  const scope = await findInstanceScope(em, params.id);
  if (!scope) return undefined;
  const owner = await findScopeOwner(em, scope, lock);
  if (lock) await shareTemplate(em, scope.templateId);
  const instance = owner && (await findInstance(lookup));
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
