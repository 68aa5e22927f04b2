import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { ListOwner, OwnerFilters } from '#domain/shared/ownership-graph/list-owners.ts';
import { findOrganizationOfTeam, hasLeft, hasOrganization } from './owner-store.ts';

const unrelated = {
  levels: ['organization', 'team'],
  reason: 'the team never belonged to the organization, so no record names both',
} as const;

/**
 * The owner that the filters of a list of records name. It also finds deleted owners, and a team with an organization that it has left,
 * because records outlive what they name. Such a pair counts as one owner, and access to either is enough to read it. Undefined if a filter
 * names nothing.
 */
export async function findFilteredOwner(
  em: Em,
  { organization: organizationId, team: teamId }: OwnerFilters,
): Promise<ListOwner | undefined> {
  const [isOrganization, team] = await Promise.all([
    organizationId === undefined || hasOrganization(em, organizationId),
    teamId === undefined ? null : findOrganizationOfTeam(em, teamId),
  ]);
  if (!isOrganization || team === undefined) return undefined;
  if (team === null || teamId === undefined)
    return organizationId === undefined
      ? { ...installationOwnership, named: [], contradiction: null }
      : toListOwner({ organizationId, teamId: null });
  const present = { organizationId: team.organizationId, teamId };
  if (organizationId === undefined || organizationId === team.organizationId) return toListOwner(present);
  if (await hasLeft(em, teamId, organizationId)) return toListOwner({ organizationId, teamId });
  const organization = { organizationId, teamId: null };
  return { ...organization, named: [organization, present], contradiction: unrelated };
}

function toListOwner(owner: Ownership): ListOwner {
  return { ...owner, named: [owner], contradiction: null };
}
