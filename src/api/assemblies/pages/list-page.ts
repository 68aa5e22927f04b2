import type { FastifyReply } from 'fastify';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderArchiveTabs, withArchived } from '#api/tenancy/pages/views.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAgeByDay } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query, withQuery } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';
import { assemblyPath, type ListedAssembly, operationWords } from './views.ts';

/** The assemblies that the visitor may read, in the scope of the address. */
export async function showAssemblies(visit: Visit): Promise<FastifyReply> {
  const isArchived = visit.query('archived') === 'true';
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
  const path = pagePath(pages.assemblies, {}, filter);
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  const link = (more: Query) =>
    withQuery(pages.assemblies, { ...filter, ...(isArchived && { archived: 'true' }), ...more });
  return visit.show({
    title: 'Assemblies',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Assemblies',
  below: 'Deploy several templates together, in order, and pass outputs from one to the next.',
  actions: html`<div class="actions">${renderAction(mayCreate, {
    label: 'New assembly',
    icon: 'plus',
    tone: 'primary',
    path: pagePath(pages.newAssembly, {}, scopeQuery(visit.scope)),
  })}</div>`,
})}
${renderNews(visit, pages.assemblies)}
${renderArchiveTabs(path, isArchived)}
${renderFilters(filter, isArchived, names)}
${assemblies.length > 0 ? html`<div class="list-panel">${renderRows(assemblies, names)}</div>` : html`<div class="list-panel">${renderNone(filter, isArchived, mayCreate.allowed)}</div>`}
${renderPager({ first: cursor ? withArchived(path, isArchived) : null, next: next ? link({ cursor: next }) : null })}
</div>`,
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

function renderRows(assemblies: readonly ListedAssembly[], names: Names): Html {
  return renderTable({
    caption: 'Assemblies',
    rows: assemblies,
    rowId: ({ id }) => `a-${id}`,
    columns: columnsWith(names),
  });
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

function renderNone({ q, environment_id: environment }: Query, isArchived: boolean, mayCreate: boolean): Html {
  if (q !== undefined || environment !== undefined) {
    return renderEmpty(
      'No matching assemblies',
      'No assembly that you can see matches your search.',
      html`<a class="button button-plain" href="${pagePath(pages.assemblies)}">Show all assemblies</a>`,
    );
  }
  if (isArchived) return renderEmpty('No archived assemblies', 'Archived assemblies stay here until they are deleted.');
  return renderEmpty(
    'No assemblies yet',
    'An assembly combines templates, such as a network and the services in it, so that one run deploys them in order.',
    mayCreate
      ? html`<a class="button button-primary" href="${pagePath(pages.newAssembly)}">Create the first one</a>`
      : html`<a class="button" href="${pagePath(pages.catalog)}">See the templates</a>`,
  );
}
