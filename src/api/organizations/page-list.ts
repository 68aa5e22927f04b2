import { levelConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  organizations: '/organizations',
  newOrganization: '/organizations/new',
  organization: '/organizations/:orgID',
  editOrganization: '/organizations/:orgID/edit',
  archiveOrganization: '/organizations/:orgID/archive',
  unarchiveOrganization: '/organizations/:orgID/unarchive',
  transferOrganization: '/organizations/:orgID/transfer',
  deleteOrganization: '/organizations/:orgID/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.organizations]: { deleted: 'Organization deleted.' },
  [pages.organization]: levelConfirmations('Organization'),
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  organizations: {
    kind: 'organization',
    label: 'Organizations',
    icon: 'building-2',
    page: ({ id }) => toPath(pages.organization, { orgID: id }),
  },
} as const satisfies Record<string, ResourceKind>;
