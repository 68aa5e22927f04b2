import type { Em } from '#database/database.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { Invalid } from '#domain/shared/errors.ts';
import type { AuditFilter } from './model.ts';
import { findOrganizationOfTeam, hasLeft, hasOrganization } from './owner-store.ts';

/** The owner that a filter names, as the target of a decision. */
export interface FilteredOwner extends Ownership {
  /** The team, if the filter also names an organization to which the team never belonged. The reader must be allowed to read both. */
  readonly unrelatedTeam: Ownership | null;
}

/**
 * The owner that a filter names: the team, with its organization unless the filter names a former one. Deleted ones are found
 * too, because records outlive what they name. Undefined: there is no such owner. Without such a filter, the installation.
 */
export async function findFilteredOwner(
  em: Em,
  { organization_id: organizationId, team_id: teamId }: AuditFilter,
): Promise<FilteredOwner | undefined> {
  const [isOrganization, team] = await Promise.all([
    organizationId === undefined || hasOrganization(em, organizationId),
    teamId === undefined ? null : findOrganizationOfTeam(em, teamId),
  ]);
  if (!isOrganization || team === undefined) return undefined;
  if (team === null || teamId === undefined)
    return { organizationId: organizationId ?? null, teamId: null, unrelatedTeam: null };
  const present = { organizationId: team.organizationId, teamId };
  if (organizationId === undefined || organizationId === team.organizationId)
    return { ...present, unrelatedTeam: null };
  return (await hasLeft(em, teamId, organizationId))
    ? { organizationId, teamId, unrelatedTeam: null }
    : { organizationId, teamId: null, unrelatedTeam: present };
}

/** @throws Invalid for a team and an organization that no record names together. Check before that the reader may read both. */
export function refuseUnrelated({ unrelatedTeam }: FilteredOwner): void {
  if (unrelatedTeam === null) return;
  throw new Invalid(
    'organization_id, team_id: the team never belonged to the organization, so no record names both: leave one of them out',
  );
}
