import { isPlatformAdministrator, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';

/**
 * Only owners of the team, and owners and admins of its organization, may weaken the rules that protect what the team owns. The
 * right to change the thing itself is checked before: an organization's owners and admins do not have it unless they are in the
 * team, since they act there as its members do. What belongs to the whole installation is only for administrators anyway.
 */
export function mayWeakenPolicy(principal: Principal, { organizationId, teamId }: Ownership): boolean {
  if (teamId === null || isPlatformAdministrator(principal) || principal.teams[teamId] === 'owner') return true;
  const role = organizationId === null ? undefined : principal.organizations[organizationId];
  return role === 'owner' || role === 'admin';
}

/** @param what is weaker than before, and where, for the message. @throws Forbidden if the principal may not weaken policies */
export function requireMayWeaken(principal: Principal, owner: Ownership, what: string): void {
  if (mayWeakenPolicy(principal, owner)) return;
  throw new Forbidden(`permission denied: ${what}, and ${whoMayWeaken} may weaken it`);
}

/** Who may weaken a policy, for messages. */
export const whoMayWeaken =
  'only an owner of the team, or an admin of the team who is also an owner or admin of its organization,';
