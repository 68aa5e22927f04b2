import { type OrganizationRole, organizationRoles } from '#domain/organizations/model.ts';
import { isPlatformAdministrator, teamActionsOf } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { TeamRole } from '#domain/teams/model.ts';

/** Nobody grants, changes or takes away a role in an organization above their own. */
export function mayGiveOrganizationRole(giver: Principal, organizationId: string, role: OrganizationRole): boolean {
  if (isPlatformAdministrator(giver)) return true;
  const own = giver.organizations[organizationId];
  // Strongest first: the smaller the place, the more it may do.
  const place = (each: OrganizationRole) => organizationRoles.indexOf(each);
  return own !== undefined && place(role) >= place(own);
}

/** Whoever manages memberships gives and takes every role but the owner's, which is for those who manage owners. */
export function mayGiveTeamRole(
  giver: Principal,
  team: { readonly organizationId: string; readonly teamId: string },
  role: TeamRole,
): boolean {
  if (role !== 'owner' || isPlatformAdministrator(giver)) return true;
  return teamActionsOf(giver, team.organizationId, team.teamId).has('team.owner.manage');
}

/**
 * Rules that protect an environment are weakened by owners of its team, or by the administration of its organization. That
 * they may write the environment at all is asked before: the administration alone may not, since it acts as members do.
 */
export function mayWeakenPolicy(
  principal: Principal,
  { organizationId, teamId }: { readonly organizationId: string; readonly teamId: string },
): boolean {
  if (isPlatformAdministrator(principal) || principal.teams[teamId] === 'owner') return true;
  const role = principal.organizations[organizationId];
  return role === 'owner' || role === 'admin';
}
