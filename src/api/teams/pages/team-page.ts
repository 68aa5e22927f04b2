import type { FastifyReply } from 'fastify';
import { list as listProjects } from '#api/projects/operations.ts';
import { levelPage } from '#api/tenancy/pages/levels/level-page.ts';
import { showLevelSettings, submitLevelSettings } from '#api/tenancy/pages/levels/settings-page.ts';
import { archivedQuery, isArchive, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { page } from '#api/web/declarations/area.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type PagePattern, pagePath, pages, withQuery } from '#api/web/paths.ts';
import { teamForms } from './team-forms.ts';
import { readTeam, type TeamSubject, type TeamVisit, teamLevel, teamParams, teamPath } from './team-frame.ts';

/** A team with its projects. */
async function showTeamProjects(visit: TeamVisit): Promise<FastifyReply> {
  const team = await readTeam(visit);
  const isArchived = isArchive(visit);
  const cursor = visit.query('cursor');
  const query = { team_id: team.id, archived: String(isArchived), ...(cursor && { cursor }) };
  const { projects, next_cursor: next } = await visit.read(listProjects, { query });
  const table = renderTable({
    caption: 'Projects',
    rows: projects,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.project, { id })}">${name}</a>`,
      },
      { label: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
      {
        label: 'Description',
        cell: ({ description: text }) => (text ? html`<span class="foreign">${text.slice(0, 200)}</span>` : null),
      },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  });
  const none = isArchived
    ? renderEmpty('No archived projects', 'Archived projects stay here until they are deleted.')
    : renderEmpty(
        'No projects yet',
        'A project contains the environments of one product, such as a network or an application.',
      );
  const content = html`<div class="section-line">${renderArchiveTabs(teamPath(team), isArchived)}
${renderLinks(team)}</div>
${projects.length > 0 ? html`<div class="list-panel">${table}</div>` : none}
${renderPages({ cursor, next }, (query) => pagePath(pages.team, teamParams(team), { ...archivedQuery(isArchived), ...query }))}`;
  return visit.show(levelPage(teamLevel, visit, team, { tab: 'main', content }));
}

/** Only visitors who manage the team's service accounts may list them. */
function renderLinks(team: TeamSubject): Html {
  const { id, actions } = team;
  const link = (path: PagePattern, label: string) =>
    html`<a class="chip" href="${withQuery(path, { team_id: id })}">${label}</a>`;
  const mayManage = refusalOf(actions, 'create_service_account') === null;
  const mayAdd = refusalOf(actions, 'create_project') === null;
  return html`<div class="row-actions">${mayAdd ? html`<a class="chip" href="${pagePath(pages.setUpTeam, teamParams(team))}">Set up</a>` : null}${link(pages.runs, 'Runs')}${link(pages.catalog, 'Templates')}${
    mayManage ? link(pages.serviceAccounts, 'Service accounts') : null
  }<a class="chip" href="${pagePath(pages.teamReviewers, teamParams(team))}">Who can approve</a></div>`;
}

/** The pages of teams. Those of members and invitations belong to their own areas. */
export const teamPages = [
  page('GET', pages.team, showTeamProjects),
  page('GET', pages.editTeam, (visit) => showLevelSettings(teamLevel, visit)),
  page('POST', pages.editTeam, (visit) => submitLevelSettings(teamLevel, visit)),
  ...teamForms,
];
