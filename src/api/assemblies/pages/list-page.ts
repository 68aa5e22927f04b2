import type { FastifyReply } from 'fastify';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { archivedQuery, isArchive, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderAgeByDay } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { type ListPage, showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';
import { assemblyPath, type ListedAssembly, operationWords } from './views.ts';

/** The assemblies that the visitor may read, in the scope of the address. */
export async function showAssemblies(visit: Visit): Promise<FastifyReply> {
  const isArchived = isArchive(visit);
  const filter = { ...scopeQuery(visit.scope), environment_id: visit.query('environment_id'), q: visit.query('q') };
  const cursor = visit.query('cursor');
  const query = { ...filter, archived: String(isArchived), cursor };
  const { assemblies, next_cursor: next } = await visit.read(list, { query });
  const names = await readNames(visit.em, {
    teams: assemblies.map(({ team_id: id }) => id),
    environments: [
      ...assemblies.map(({ last_run: last }) => last?.environment_id ?? null),
      filter.environment_id ?? null,
    ],
  });
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  return showList(visit, {
    title: 'Assemblies',
    below: 'Deploy several templates together, in order, and pass outputs from one to the next.',
    page: pages.assemblies,
    kept: { ...filter, ...archivedQuery(isArchived) },
    create: [mayCreate, 'New assembly', pagePath(pages.newAssembly, {}, scopeQuery(visit.scope))],
    above: html`${renderArchiveTabs(pagePath(pages.assemblies, {}, filter), isArchived)}
${renderFilters(filter, isArchived, names)}`,
    rows: assemblies,
    rowId: ({ id }) => `a-${id}`,
    columns: columnsWith(names),
    next,
    empty: emptyOf(filter, isArchived, mayCreate.allowed),
  });
}

function renderFilters({ q, ...others }: Query, isArchived: boolean, names: Names): Html {
  const kept = Object.entries({ ...others, ...(isArchived && { archived: 'true' }) }).filter(
    ([, value]) => value !== undefined,
  );
  const environment = typeof others['environment_id'] === 'string' ? others['environment_id'] : null;
  return html`<form class="filters" method="get" action="${pages.assemblies}" role="search" aria-label="Assemblies">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`)}
<div class="field field-wide"><label for="q">Name or description</label><input id="q" type="search" name="q" value="${typeof q === 'string' ? q : ''}" maxlength="100" autocomplete="off" spellcheck="false" data-key="f"></div>
<button class="button" type="submit">Search</button>
${environment ? html`<p class="muted">Run in <span class="foreign">${names.get(environment)?.name ?? 'this environment'}</span>. <a href="${pagePath(pages.assemblies)}">Show all</a></p>` : null}
</form>`;
}

function columnsWith(names: Names): Column<ListedAssembly>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (each) =>
        html`<a class="foreign" href="${assemblyPath(each)}">${each.name}</a>${each.description ? html`<p class="assembly-about muted foreign">${each.description.slice(0, 160)}</p>` : null}`,
    },
    {
      label: 'Latest',
      cell: ({ latest_version: latest }) => latest ?? html`<span class="muted nowrap">not published</span>`,
    },
    { label: 'Last run', cell: ({ id, last_run: last }) => last && renderLastRun(id, last, names) },
    { label: 'Age', cell: ({ last_run: last }) => last && renderAgeByDay(last.created_at) },
    {
      label: 'Team',
      kind: 'minor',
      cell: ({ team_id: id }) => html`<span class="foreign clip">${names.get(id)?.name ?? ''}</span>`,
    },
  ];
}

function renderLastRun(id: string, last: NonNullable<ListedAssembly['last_run']>, names: Names): Html {
  return html`<a class="last-run" href="${pagePath(pages.assemblyRun, { id, runID: last.id })}">${renderRunStatus(last)}</a> <span class="muted">${operationWords[last.operation]} · <span class="foreign">${names.get(last.environment_id)?.name ?? 'deleted'}</span></span>`;
}

function emptyOf(
  { q, environment_id: environment }: Query,
  isArchived: boolean,
  mayCreate: boolean,
): ListPage<ListedAssembly>['empty'] {
  if (q !== undefined || environment !== undefined) {
    return [
      'No matching assemblies',
      'No assembly that you can see matches your search.',
      html`<a class="button button-plain" href="${pagePath(pages.assemblies)}">Show all assemblies</a>`,
    ];
  }
  if (isArchived) return ['No archived assemblies', 'Archived assemblies stay here until they are deleted.'];
  return [
    'No assemblies yet',
    'An assembly combines templates, such as a network and the services in it, so that one run deploys them in order.',
    mayCreate
      ? html`<a class="button button-primary" href="${pagePath(pages.newAssembly)}">Create the first one</a>`
      : html`<a class="button" href="${pagePath(pages.catalog)}">See the templates</a>`,
  ];
}
