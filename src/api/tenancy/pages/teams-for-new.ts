import type { Visit } from '#api/web/visit/visit.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { readNames } from '#domain/tenancy/names.ts';

/**
 * The teams that something new could belong to: the visitor's own, and the team of the scope, of which an administrator need not be a
 * member. Use them only for decisions: the address may name a team that is hidden from the visitor.
 */
export async function readTeamsForNew({ em, scope, principal }: Visit): Promise<Ownership[]> {
  const ids = [...new Set([...Object.keys(principal.teams), scope.teamId ?? []].flat())];
  if (ids.length === 0) return [];
  const names = await readNames(em, { teams: ids });
  return ids.map((id) => ({ teamId: id, organizationId: names.get(id)?.organizationId ?? null }));
}

/** Those of `readTeamsForNew` that are in the scope of the page. */
export async function readTeamsForNewInScope(visit: Visit): Promise<Ownership[]> {
  const { teamId, organizationId } = visit.scope;
  const teams = await readTeamsForNew(visit);
  if (teamId !== undefined) return teams.filter((team) => team.teamId === teamId);
  return teams.filter((team) => organizationId === undefined || team.organizationId === organizationId);
}
