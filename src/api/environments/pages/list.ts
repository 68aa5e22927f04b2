import type { FastifyReply } from 'fastify';
import { get as getProject } from '#api/projects/operations.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Action, toAction } from '#domain/shared/actions.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';
import { abbreviatePolicy, kindWords, type ListedEnvironment, renderHoldBadge } from './labels.ts';

/** Lists the environments of the scope, or of one project. */
export async function showEnvironments(visit: Visit): Promise<FastifyReply> {
  const filter = {
    ...scopeQuery(visit.scope),
    project_id: visit.query('project_id'),
    archived: visit.query('archived'),
  };
  const { environments, next_cursor: next } = await visit.read(list, {
    query: { ...filter, cursor: visit.query('cursor') },
  });
  const names = await readNames(visit.em, {
    projects: environments.map((each) => each.project_id),
    teams: environments.map((each) => each.team_id),
  });
  const isArchive = filter.archived === 'true';
  const link = (query: Query) => pagePath(pages.environments, {}, { ...filter, ...query });
  return visit.show({
    title: 'Environments',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Environments',
  below: 'Where runs deploy: each has its own variables, approval policy and locks.',
  actions: html`<div class="actions">${renderAction(await mayCreateIn(visit, filter.project_id), { label: 'New environment', icon: 'plus', tone: 'primary', path: pagePath(pages.newEnvironment, {}, { project_id: filter.project_id }) })}</div>`,
})}
${renderNews(visit, pages.environments)}
<ul class="chips" role="list" aria-label="Which environments">
<li><a class="chip" href="${link({ archived: undefined })}" ${isArchive ? null : html`aria-current="true"`}>Active</a></li>
<li><a class="chip" href="${link({ archived: 'true' })}" ${isArchive ? html`aria-current="true"` : null}>Archived</a></li>
</ul>
<div class="list-panel">${
      environments.length > 0
        ? renderRows(environments, names)
        : renderEmpty(
            isArchive ? 'No archived environments' : 'No environments yet',
            'An environment belongs to a project, such as staging or production.',
          )
    }</div>
${renderPager({ first: visit.query('cursor') ? link({}) : null, next: next ? link({ cursor: next }) : null })}
</div>`,
  });
}

/** Whether the visitor may create an environment in this project or, without one, in any project of the scope. */
export async function mayCreateIn(visit: Visit, projectId: string | undefined): Promise<Action> {
  if (projectId === undefined) return visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  const { actions } = await visit.read(getProject, { params: { id: projectId } });
  return toAction(create.id, refusalOf(actions, 'create_environment'));
}

function renderRows(environments: readonly ListedEnvironment[], names: Names) {
  return renderTable<ListedEnvironment>({
    caption: 'Environments',
    rows: environments,
    rowId: ({ id }) => `e-${id}`,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.environment, { id })}">${name}</a>`,
      },
      { label: 'Kind', cell: ({ kind }) => kindWords[kind] },
      {
        label: 'Project',
        cell: ({ project_id: id }) =>
          html`<a class="foreign" href="${pagePath(pages.project, { id })}">${names.get(id)?.name ?? id}</a>`,
      },
      { label: 'Team', kind: 'minor', cell: ({ team_id: id }) => names.get(id)?.name ?? null },
      { label: 'Approvals', cell: ({ approval_policy: policy }) => abbreviatePolicy(policy) },
      {
        label: 'Locked or frozen',
        cell: renderHoldBadge,
      },
      { label: 'Created', kind: 'minor', cell: ({ created_at: at }) => renderAge(at) },
    ],
  });
}
