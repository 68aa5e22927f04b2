import type { z } from 'zod';
import { archivingNews } from '#api/tenancy/pages/archiving-forms.ts';
import { renderArchivedBadge } from '#api/tenancy/pages/views.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderHistoryLink } from '#api/web/components/history.ts';
import { renderNews } from '#api/web/components/news.ts';
import { type Crumb, renderPageHead } from '#api/web/components/page-head.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../operations.ts';
import type { OrganizationView } from '../views.ts';

export type Organization = z.input<typeof OrganizationView>;

export const organizationsCrumb: Crumb = { label: 'Organizations', path: pagePath(pages.organizations) };

export function organizationPath({ id: orgID }: Pick<Organization, 'id'>, done?: string): LocalPath {
  return pagePath(pages.organization, { orgID }, { done });
}

/** What lies above the forms of an organization. */
export function organizationCrumbs(organization: Pick<Organization, 'id' | 'name'>): Crumb[] {
  return [organizationsCrumb, { label: organization.name, path: organizationPath(organization) }];
}

export function readOrganization(visit: Visit<{ orgID: string }>): Promise<Organization> {
  return visit.read(get, { params: { orgID: visit.params.orgID } });
}

export type OrganizationTab = 'teams' | 'members' | 'invitations' | 'settings';

const news: Readonly<Record<string, string>> = {
  ...archivingNews('organization'),
  joined: 'You are a member now.',
  'member-set': 'The membership is saved.',
  'member-removed': 'The membership has ended.',
  'invitation-revoked': 'The invitation is revoked.',
  'team-deleted': 'The team is deleted.',
};

/** A page of an organization: its head, its tabs and one of them. */
export function organizationPage(
  visit: Visit,
  organization: Organization,
  tab: OrganizationTab,
  { content, scripts }: { readonly content: Html; readonly scripts?: readonly string[] },
): Page {
  const { id: orgID, name, slug, archived_at: archivedAt, actions } = organization;
  const paths: Readonly<Record<OrganizationTab, LocalPath>> = {
    teams: pagePath(pages.organization, { orgID }),
    members: pagePath(pages.organizationMembers, { orgID }),
    invitations: pagePath(pages.organizationInvitations, { orgID }),
    settings: pagePath(pages.editOrganization, { orgID }),
  };
  const labels: Readonly<Record<OrganizationTab, string>> = {
    teams: 'Teams',
    members: 'Members',
    invitations: 'Invitations',
    settings: 'Settings',
  };
  const newTeam = {
    label: 'New team',
    icon: 'plus',
    tone: 'primary',
    path: pagePath(pages.newTeam, { orgID }),
  } as const;
  return {
    title: name,
    ...(scripts && { scripts }),
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [organizationsCrumb],
  beside: renderArchivedBadge(archivedAt),
  below: html`<span class="mono">${slug}</span>`,
  actions: html`<div class="actions">${renderHistoryLink('organizations', orgID)}${tab === 'teams' ? renderActions(actions, { create_team: newTeam }) : null}</div>`,
})}
${renderNews(visit.query('done'), news)}
${renderTabs(
  'Parts of the organization',
  (Object.keys(paths) as OrganizationTab[]).map((each) => ({
    label: labels[each],
    path: paths[each],
    isCurrent: each === tab,
  })),
)}
${content}
</div>`,
  };
}
