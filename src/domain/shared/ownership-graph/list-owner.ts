import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { installationOwnership, type Ownership } from '../access/decide.ts';
import { findOwningTeam } from './owning-team.ts';

/**
 * The team that owns what a list is filtered by, such as the team of an environment. Without such a filter, the installation.
 * Undefined if a filter names nothing, or if two filters belong to different teams.
 */
export async function findListOwner(
  em: Em,
  filters: { readonly [kind in Kind]?: string | undefined },
): Promise<Ownership | undefined> {
  const named = Object.entries(filters) as [Kind, string | undefined][];
  const found = named.flatMap(([kind, id]) => (id === undefined ? [] : [findOwningTeam(em, kind, id)]));
  if (found.length === 0) return installationOwnership;
  const [first, ...others] = await Promise.all(found);
  return first && others.every((owner) => owner?.teamId === first.teamId) ? first : undefined;
}
