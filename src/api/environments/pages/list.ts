import type { FastifyReply } from 'fastify';
import { get as getProject } from '#api/projects/operations.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
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
  return showList(visit, {
    title: 'Environments',
    below: 'Where runs deploy: each has its own variables, approval policy and locks.',
    page: pages.environments,
    kept: filter,
    create: [
      await mayCreateIn(visit, filter.project_id),
      'New environment',
      pagePath(pages.newEnvironment, {}, { project_id: filter.project_id }),
    ],
    above: renderArchiveTabs(pagePath(pages.environments, {}, { ...filter, archived: undefined }), isArchive),
    rows: environments,
    rowId: ({ id }) => `e-${id}`,
    columns: columnsOf(names),
    next,
    empty: [
      isArchive ? 'No archived environments' : 'No environments yet',
      'An environment belongs to a project, such as staging or production.',
    ],
  });
}

/** Whether the visitor may create an environment in this project or, without one, in any project of the scope. */
export async function mayCreateIn(visit: Visit, projectId: string | undefined): Promise<Action> {
  if (projectId === undefined) return visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  const { actions } = await visit.read(getProject, { params: { id: projectId } });
  return toAction(create.id, refusalOf(actions, 'create_environment'));
}

function columnsOf(names: Names): readonly Column<ListedEnvironment>[] {
  return [
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
    { label: 'Locked or frozen', cell: renderHoldBadge },
    { label: 'Created', kind: 'minor', cell: ({ created_at: at }) => renderAge(at) },
  ];
}
