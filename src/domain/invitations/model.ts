import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';

export const invitationStatuses = ['open', 'accepted', 'expired', 'revoked', 'void'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

const day = 24 * 60 * 60;
export const defaultLifetimeSeconds = 7 * day;

interface NewInvitation {
  readonly email: string;
  readonly lifetimeSeconds: number;
}

/** An invitation into an organization and, if a team is given, into that team. */
export interface OrganizationInvitation extends NewInvitation {
  readonly role: OrganizationRole;
  readonly teamRole?: TeamRole | undefined;
}

export interface TeamInvitation extends NewInvitation {
  readonly role: TeamRole;
}
