import { levelConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  organizationMembers: '/organizations/:orgID/members',
  organizationMember: '/organizations/:orgID/members/:userID',
  removeOrganizationMember: '/organizations/:orgID/members/:userID/remove',
  teamMembers: '/organizations/:orgID/teams/:id/members',
  teamMember: '/organizations/:orgID/teams/:id/members/:userID',
  removeTeamMember: '/organizations/:orgID/teams/:id/members/:userID/remove',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.organizationMembers]: levelConfirmations('Organization'),
  [pages.teamMembers]: levelConfirmations('Team'),
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  organization_members: {
    kind: 'organization_member',
    label: 'Members',
    icon: 'users',
    page: ({ id, organizationId: orgID }) => orgID && toPath(pages.organizationMember, { orgID, userID: id }),
  },
} as const satisfies Record<string, ResourceKind>;
