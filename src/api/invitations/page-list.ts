import { levelConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  organizationInvitations: '/organizations/:orgID/invitations',
  revokeOrganizationInvitation: '/organizations/:orgID/invitations/:id/revoke',
  resendOrganizationInvitation: '/organizations/:orgID/invitations/:id/resend',
  teamInvitations: '/organizations/:orgID/teams/:id/invitations',
  revokeTeamInvitation: '/organizations/:orgID/teams/:id/invitations/:invitationID/revoke',
  resendTeamInvitation: '/organizations/:orgID/teams/:id/invitations/:invitationID/resend',
  acceptInvitation: '/invitations/accept',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.organizationInvitations]: levelConfirmations('Organization'),
  [pages.teamInvitations]: levelConfirmations('Team'),
} as const satisfies ConfirmationsOn<typeof pages>;
