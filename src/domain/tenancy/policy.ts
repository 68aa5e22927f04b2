import { isPlatformAdministrator, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';

/**
 * Only owners of the team, and owners and admins of its organization, may weaken the rules that protect what the team owns. The caller has
 * already checked the right to change the resource itself. An organization's owners and admins have that right only as members of the team.
 * Resources of the whole installation can be changed only by platform administrators, so this returns true for them.
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

/** The text of messages that says who may weaken a policy. */
export const whoMayWeaken =
  'only an owner of the team, or an admin of the team who is also an owner or admin of its organization,';
