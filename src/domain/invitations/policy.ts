import { mayGiveOrganizationRole, mayGiveTeamRole } from '#domain/members/grants.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';

/** Inviting into an organization takes the right to manage its members. */
export const inviteToOrganizationAccess: Access = {
  anyOf: ['organization:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: { inherits: 'organizations.update' },
};

/** Inviting into a team. Inviting an owner takes the right to manage owners as well, which `mayOffer` checks. */
export const inviteToTeamAccess: Access = {
  anyOf: ['team:write'],
  scope: 'team',
  teamAction: 'team.invitation.manage',
  hidden: 'not_found',
  review: 'none',
};

/** The memberships that an invitation offers. */
export interface Offer {
  readonly organizationId: string;
  /** Null: the invitation is only for members of the organization. */
  readonly role: OrganizationRole | null;
  readonly teamId: string | null;
  readonly teamRole: TeamRole | null;
}

/** Whether a principal may grant everything that is offered now; checked when the invitation is sent and when it is accepted. */
export function mayOffer(giver: Principal, offer: Offer): boolean {
  return mayOfferOrganization(giver, offer) && mayOfferTeam(giver, offer);
}

export function mayOfferOrganization(giver: Principal, { organizationId, role }: Offer): boolean {
  if (role === null) return true;
  const { allowed } = decide(giver, inviteToOrganizationAccess, { organizationId, teamId: null });
  return allowed && mayGiveOrganizationRole(giver, organizationId, role);
}

function mayOfferTeam(giver: Principal, { organizationId, teamId, teamRole }: Offer): boolean {
  if (teamId === null || teamRole === null) return true;
  const { allowed } = decide(giver, inviteToTeamAccess, { organizationId, teamId });
  return allowed && mayGiveTeamRole(giver, { organizationId, teamId }, teamRole);
}
