import type { z } from 'zod';
import { get as getOrganization } from '#api/organizations/operations.ts';
import { organizationCrumbs } from '#api/organizations/pages/organization-frame.ts';
import type { OrganizationView } from '#api/organizations/views.ts';
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
import type { TeamView } from '../views.ts';

/** A team, and the organization that owns it. */
export interface TeamSubject extends z.input<typeof TeamView> {
  readonly organization: Pick<z.input<typeof OrganizationView>, 'id' | 'name'>;
}

export type TeamVisit = Visit<{ orgID: string; id: string }>;

/** Members of a team are members of its organization, so whoever may read one may read the other. */
export async function readTeam(visit: TeamVisit): Promise<TeamSubject> {
  const { orgID, id } = visit.params;
  const [team, organization] = await Promise.all([
    visit.read(get, { params: { orgID, id } }),
    visit.read(getOrganization, { params: { orgID } }),
  ]);
  return { ...team, organization };
}

type TeamIds = Pick<TeamSubject, 'id' | 'organization_id'>;

export function teamParams({ id, organization_id: orgID }: TeamIds) {
  return { orgID, id };
}

export function teamPath(team: TeamIds, done?: string): LocalPath {
  return pagePath(pages.team, teamParams(team), { done });
}

export function teamCrumbs(team: TeamSubject): Crumb[] {
  return [...organizationCrumbs(team.organization), { label: team.name, path: teamPath(team) }];
}

export type TeamTab = 'projects' | 'members' | 'invitations' | 'settings';

const labels: Readonly<Record<TeamTab, string>> = {
  projects: 'Projects',
  members: 'Members',
  invitations: 'Invitations',
  settings: 'Settings',
};

const news: Readonly<Record<string, string>> = {
  ...archivingNews('team'),
  joined: 'You are a member now.',
  'member-set': 'The membership is saved.',
  'member-removed': 'The membership has ended.',
  'invitation-revoked': 'The invitation is revoked.',
};

/** A page of a team: its head, its tabs and one of them. */
export function teamPage(
  visit: Visit,
  team: TeamSubject,
  tab: TeamTab,
  { content, scripts }: { readonly content: Html; readonly scripts?: readonly string[] },
): Page {
  const { id, name, slug, archived_at: archivedAt, actions } = team;
  const params = teamParams(team);
  const paths: Readonly<Record<TeamTab, LocalPath>> = {
    projects: teamPath(team),
    members: pagePath(pages.teamMembers, params),
    invitations: pagePath(pages.teamInvitations, params),
    settings: pagePath(pages.editTeam, params),
  };
  const newProject = pagePath(pages.newProject, {}, { team_id: id });
  return {
    title: name,
    ...(scripts && { scripts }),
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: organizationCrumbs(team.organization),
  beside: renderArchivedBadge(archivedAt),
  below: html`<span class="mono">${slug}</span>`,
  actions: html`<div class="actions">${renderHistoryLink('teams', id)}${
    tab === 'projects'
      ? renderActions(actions, {
          create_project: { label: 'New project', icon: 'plus', tone: 'primary', path: newProject },
        })
      : null
  }</div>`,
})}
${renderNews(visit.query('done'), news)}
${renderTabs(
  'Parts of the team',
  (Object.keys(paths) as TeamTab[]).map((each) => ({
    label: labels[each],
    path: paths[each],
    isCurrent: each === tab,
  })),
)}
${content}
</div>`,
  };
}
