import { isPlatformAdministrator, teamActionsOf } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { type OrganizationRole, organizationRoles } from '#domain/shared/vocabulary/roles.ts';

/** Whether a principal may grant, change or remove a role in an organization: only roles up to their own. */
export function mayGiveOrganizationRole(giver: Principal, organizationId: string, role: OrganizationRole): boolean {
  if (isPlatformAdministrator(giver)) return true;
  const own = giver.organizations[organizationId];
  // The list starts with the strongest role.
  const rank = (each: OrganizationRole) => organizationRoles.indexOf(each);
  return own !== undefined && rank(role) >= rank(own);
}

/**
 * Whether a principal may grant, change or remove a role in a team. The right to manage memberships covers every role except `owner`, which
 * requires the right to manage owners.
 */
export function mayGiveTeamRole(
  giver: Principal,
  team: { readonly organizationId: string; readonly teamId: string },
  role: TeamRole,
): boolean {
  if (role !== 'owner' || isPlatformAdministrator(giver)) return true;
  return teamActionsOf(giver, team.organizationId, team.teamId).has('team.owner.manage');
}
