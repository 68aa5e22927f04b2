import type { z } from 'zod';
import type { Level, LevelPage } from '#api/tenancy/pages/levels/level.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { type LocalPath, type PagePattern, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get, update } from '../operations.ts';
import type { OrganizationView } from '../views.ts';

export type Organization = z.input<typeof OrganizationView>;

export const organizationsCrumb: Crumb = { label: 'Organizations', path: pagePath(pages.organizations) };

export function organizationPath(
  { id: orgID }: Pick<Organization, 'id'>,
  done?: ConfirmationOf<typeof pages.organization>,
): LocalPath {
  return pagePath(pages.organization, { orgID }, { done });
}

/** The pages above the forms of an organization. */
export function organizationCrumbs(organization: Pick<Organization, 'id' | 'name'>): Crumb[] {
  return [organizationsCrumb, { label: organization.name, path: organizationPath(organization) }];
}

export function readOrganization(visit: Visit<{ orgID: string }>): Promise<Organization> {
  return visit.read(get, { params: { orgID: visit.params.orgID } });
}

const paths: Readonly<Record<LevelPage, PagePattern & `/organizations/:orgID${string}`>> = {
  main: pages.organization,
  members: pages.organizationMembers,
  invitations: pages.organizationInvitations,
  settings: pages.editOrganization,
  archive: pages.archiveOrganization,
  unarchive: pages.unarchiveOrganization,
  transfer: pages.transferOrganization,
  delete: pages.deleteOrganization,
};

/** The differences between the pages of an organization and those of a team. */
export const organizationLevel: Level<{ orgID: string }, Organization> = {
  noun: 'organization',
  auditType: 'organizations',
  read: readOrganization,
  parents: () => [organizationsCrumb],
  path: (page, { id: orgID }, query) => pagePath(paths[page], { orgID }, query),
  holds: {
    label: 'Teams',
    action: 'create_team',
    button: ({ id: orgID }) => ({
      label: 'New team',
      icon: 'plus',
      tone: 'primary',
      path: pagePath(pages.newTeam, { orgID }),
    }),
  },
  confirmations: pages.organization,
  settings: {
    update: (visit, { id: orgID }, body) => visit.run(update, { params: { orgID }, body }),
    aboutSlug: 'Links with former slugs keep working.',
    aboutTransfer: 'Make another person the owner.',
    aboutDeletion: 'Only an organization without teams can be deleted.',
  },
};
