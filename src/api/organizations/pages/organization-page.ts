import type { FastifyReply } from 'fastify';
import { list as listTeams } from '#api/teams/operations.ts';
import { levelPage } from '#api/tenancy/pages/levels/level-page.ts';
import { showLevelSettings, submitLevelSettings } from '#api/tenancy/pages/levels/settings-page.ts';
import { archivedQuery, isArchive, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { page } from '#api/web/declarations/area.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { showOrganizations } from './list-page.ts';
import { organizationForms } from './organization-forms.ts';
import { organizationLevel, readOrganization } from './organization-frame.ts';

type OrganizationVisit = Visit<{ orgID: string }>;

/** An organization with its teams. */
async function showOrganizationTeams(visit: OrganizationVisit): Promise<FastifyReply> {
  const organization = await readOrganization(visit);
  const orgID = organization.id;
  const isArchived = isArchive(visit);
  const cursor = visit.query('cursor');
  const query = { archived: String(isArchived), ...(cursor && { cursor }) };
  const { teams, next_cursor: next } = await visit.read(listTeams, { params: { orgID }, query });
  const path = pagePath(pages.organization, { orgID });
  const table = renderTable({
    caption: 'Teams',
    rows: teams,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.team, { orgID, id })}">${name}</a>`,
      },
      { label: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
      { label: 'Your role', cell: ({ id }) => visit.principal.teams[id] ?? 'not a member' },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
  const content = html`${renderArchiveTabs(path, isArchived)}
${teams.length > 0 ? html`<div class="list-panel">${table}</div>` : renderNoTeams(isArchived)}
${renderPages({ cursor, next }, (query) => pagePath(pages.organization, { orgID }, { ...archivedQuery(isArchived), ...query }))}`;
  return visit.show(levelPage(organizationLevel, visit, organization, { tab: 'main', content }));
}

function renderNoTeams(isArchived: boolean): Html {
  if (isArchived) return renderEmpty('No archived teams', 'Archived teams stay here until they are deleted.');
  return renderEmpty(
    'No teams that you can see',
    'A team owns projects, environments and templates. Admins of the organization create teams and add people to them.',
  );
}

/** The pages of organizations. Those of members and invitations belong to their own areas. */
export const organizationPages = [
  page('GET', pages.organizations, showOrganizations),
  page('GET', pages.organization, showOrganizationTeams),
  page('GET', pages.editOrganization, (visit) => showLevelSettings(organizationLevel, visit)),
  page('POST', pages.editOrganization, (visit) => submitLevelSettings(organizationLevel, visit)),
  ...organizationForms,
];
