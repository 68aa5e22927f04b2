import type { OrganizationRole } from '#domain/organizations/model.ts';
import { teamRoleOfAccount } from '#domain/service-accounts/model.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { TeamRole } from '#domain/teams/model.ts';
import type { Joiner } from './members.ts';

/**
 * A service account is a mere member of an organization, since more would open every team there; and one that a team owns
 * acts in that team alone.
 * @throws Conflict
 */
export function refuseAccountInOrganization({ kind, ownerTeamId }: Joiner, role: OrganizationRole): void {
  if (kind !== 'service_account') return;
  if (ownerTeamId !== null) throw new Conflict('the service account belongs to a team, and acts in that team alone');
  if (role !== 'member') throw new Conflict('role: a service account is a member of an organization, and no more');
}

/** In a team it is what its own role makes of it: asking for anything else would get something else. @throws Conflict */
export function refuseAccountInTeam({ kind, role: platformRole }: Joiner, role: TeamRole): void {
  if (kind !== 'service_account' || platformRole === null || teamRoleOfAccount[platformRole] === role) return;
  throw new Conflict(
    `role: a service account with the platform role ${platformRole} is ${teamRoleOfAccount[platformRole]} in a team: let it join as that, or change its platform role`,
  );
}
