import type { Em } from '#database/database.ts';
import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';

interface Filter {
  team_id?: string | undefined;
  environment_id?: string | undefined;
  instance_id?: string | undefined;
}

/**
 * The owner of a list of runs, by its filters: the one team to which all of them belong; nobody where there is no such
 * filter. Undefined where a filter names nothing, or where two filters belong to different teams.
 */
export async function findRunListOwner(em: Em, filter: Filter): Promise<Ownership | undefined> {
  const named = [
    ['team', filter.team_id],
    ['environment', filter.environment_id],
    ['instance', filter.instance_id],
  ] as const;
  const found = named.flatMap(([kind, id]) => (id === undefined ? [] : [findOwningTeam(em, kind, id)]));
  if (found.length === 0) return nobody;
  const [first, ...others] = await Promise.all(found);
  return first && others.every((owner) => owner?.teamId === first.teamId) ? first : undefined;
}
