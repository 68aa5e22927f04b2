import { levelNews } from '#api/tenancy/page-news.ts';
import type { NewsOn } from '#api/web/declarations/page-list.ts';
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

export const news = {
  [pages.organizationInvitations]: levelNews('Organization'),
  [pages.teamInvitations]: levelNews('Team'),
} as const satisfies NewsOn<typeof pages>;
