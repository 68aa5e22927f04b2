import type { FastifyReply } from 'fastify';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { archivedQuery, isArchive, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';

/** The projects that the visitor may read, in the scope of the address. */
export async function showProjects(visit: Visit): Promise<FastifyReply> {
  const scope = scopeQuery(visit.scope);
  const isArchived = isArchive(visit);
  const cursor = visit.query('cursor');
  const query = { ...scope, archived: String(isArchived), ...(cursor && { cursor }) };
  const { projects, next_cursor: next } = await visit.read(list, { query });
  const names = await readNames(visit.em, { teams: projects.map(({ team_id: id }) => id) });
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  return showList(visit, {
    title: 'Projects',
    page: pages.projects,
    kept: { ...scope, ...archivedQuery(isArchived) },
    create: [mayCreate, 'New project', pagePath(pages.newProject, {}, scope)],
    above: renderArchiveTabs(pagePath(pages.projects, {}, scope), isArchived),
    rows: projects,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.project, { id })}">${name}</a>`,
      },
      {
        label: 'Team',
        cell: ({ team_id: id, organization_id }) =>
          html`<a class="foreign" href="${teamPath({ id, organization_id })}">${names.get(id)?.name ?? id}</a>`,
      },
      {
        label: 'Description',
        cell: ({ description: text }) => (text ? html`<span class="foreign">${text.slice(0, 200)}</span>` : null),
      },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
    next,
    empty: isArchived
      ? ['No archived projects', 'Archived projects stay here until they are deleted.']
      : [
          'No projects yet',
          'A project belongs to a team and contains environments. You see the projects of your teams.',
          html`<a class="button" href="${pagePath(pages.organizations)}">See your organizations and teams</a>`,
        ],
  });
}
