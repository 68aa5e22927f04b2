import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

/**
 * Only owners of the team, and owners and admins of its organization, may weaken the rules that protect an environment. The
 * right to write the environment is checked before: an organization's owners and admins do not have it unless they are in the
 * team, since they act there as its members do.
 */
export function mayWeakenPolicy(
  principal: Principal,
  { organizationId, teamId }: { readonly organizationId: string; readonly teamId: string },
): boolean {
  if (isPlatformAdministrator(principal) || principal.teams[teamId] === 'owner') return true;
  const role = principal.organizations[organizationId];
  return role === 'owner' || role === 'admin';
}
