import type { FastifyReply } from 'fastify';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { archivedQuery, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';

/** The projects that the visitor may read, in the scope of the address. */
export async function showProjects(visit: Visit): Promise<FastifyReply> {
  const scope = scopeQuery(visit.scope);
  const isArchived = visit.query('archived') === 'true';
  const cursor = visit.query('cursor');
  const query = { ...scope, archived: String(isArchived), ...(cursor && { cursor }) };
  const { projects, next_cursor: next } = await visit.read(list, { query });
  const names = await readNames(visit.em, { teams: projects.map(({ team_id: id }) => id) });
  const table = renderTable({
    caption: 'Projects',
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
  });
  const path = pagePath(pages.projects, {}, scope);
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  const button = {
    label: 'New project',
    icon: 'plus',
    tone: 'primary',
    path: pagePath(pages.newProject, {}, scope),
  } as const;
  const newProject = html`<div class="actions">${renderAction(mayCreate, button)}</div>`;
  return visit.show({
    title: 'Projects',
    main: html`<div class="page page-wide">
${renderPageHead({ title: 'Projects', actions: newProject })}
${renderNews(visit, pages.projects)}
${renderArchiveTabs(path, isArchived)}
${projects.length > 0 ? html`<div class="list-panel">${table}</div>` : renderNone(isArchived)}
${renderPages({ cursor, next }, (query) => pagePath(pages.projects, {}, { ...scope, ...archivedQuery(isArchived), ...query }))}
</div>`,
  });
}

function renderNone(isArchived: boolean): Html {
  if (isArchived) return renderEmpty('No archived projects', 'Archived projects stay here until they are deleted.');
  return renderEmpty(
    'No projects yet',
    'A project belongs to a team and contains environments. You see the projects of your teams.',
    html`<a class="button" href="${pagePath(pages.organizations)}">See your organizations and teams</a>`,
  );
}
