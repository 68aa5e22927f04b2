import { levelConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  newTeam: '/organizations/:orgID/teams/new',
  team: '/organizations/:orgID/teams/:id',
  editTeam: '/organizations/:orgID/teams/:id/edit',
  archiveTeam: '/organizations/:orgID/teams/:id/archive',
  unarchiveTeam: '/organizations/:orgID/teams/:id/unarchive',
  transferTeam: '/organizations/:orgID/teams/:id/transfer',
  deleteTeam: '/organizations/:orgID/teams/:id/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.team]: levelConfirmations('Team'),
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  teams: {
    kind: 'team',
    label: 'Teams',
    icon: 'users',
    page: ({ id, organizationId: orgID }) => orgID && toPath(pages.team, { orgID, id }),
  },
} as const satisfies Record<string, ResourceKind>;
