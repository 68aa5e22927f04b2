import { mayGiveOrganizationRole, mayGiveTeamRole } from '#domain/members/grants.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { TeamRole } from '#domain/teams/model.ts';

/** Who invites into an organization: whoever manages its members. */
export const inviteToOrganizationAccess: Access = {
  anyOf: ['organization:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: { inherits: 'organizations.update' },
};

/** Who invites into a team; an owner is invited by whoever manages owners, which `mayOffer` asks for. */
export const inviteToTeamAccess: Access = {
  anyOf: ['team:write'],
  scope: 'team',
  teamAction: 'team.invitation.manage',
  hidden: 'not_found',
  review: 'none',
};

/** What an invitation makes of whoever accepts it. */
export interface Offer {
  readonly organizationId: string;
  /** Null: it is for those who are in the organization already. */
  readonly role: OrganizationRole | null;
  readonly teamId: string | null;
  readonly teamRole: TeamRole | null;
}

/** Whether somebody may grant all of it now. Asked when it is sent, and again when it is accepted. */
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
