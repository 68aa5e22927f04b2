import type { FastifyReply } from 'fastify';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { isArchive } from '#api/tenancy/pages/views.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { submit } from '#api/web/forms/problems.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { create, list } from '../../template-operations.ts';
import { readOwners } from '../owners.ts';
import { catalogPage } from './catalog-view.ts';
import type { CatalogFilter } from './filter.ts';

const pageSize = 24;

/** Shows the templates that the visitor may run or read. The catalog of a team includes the templates of the installation. */
export async function showCatalog(visit: Visit): Promise<FastifyReply> {
  const id = visit.query('environment_id');
  const environment = id === undefined ? null : await visit.read(getEnvironment, { params: { id } });
  const scope = environment ? { environment_id: environment.id } : scopeQuery(visit.scope);
  const owners = environment ? { team_id: environment.team_id } : scope;
  const filter: CatalogFilter = {
    q: visit.query('q') ?? '',
    tags: [...new Set(visit.queryAll('tag'))],
    isArchived: isArchive(visit),
    scope,
  };
  const cursor = visit.query('cursor');
  const listed = await submit(visit, ['q'], () => readTemplates(visit, filter, owners, cursor));
  const { templates, next_cursor: next } = listed.done ? listed.result : { templates: [], next_cursor: null };
  const nameOwner = await readOwners(
    visit,
    templates.map(({ team_id }) => team_id),
  );
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)), installationOwnership);
  const query = {
    ...scope,
    q: filter.q || undefined,
    tag: filter.tags,
    archived: filter.isArchived ? 'true' : undefined,
  };
  const page = catalogPage({
    templates,
    nameOwner,
    environment,
    filter,
    mayCreate,
    problems: listed.done ? null : listed.problems,
    confirmation: renderConfirmation(visit, pages.catalog),
    pager: {
      first: cursor ? pagePath(pages.catalog, {}, query) : null,
      next: next ? pagePath(pages.catalog, {}, { ...query, cursor: next }) : null,
    },
  });
  return visit.show(page, listed.done ? 200 : listed.problems.status);
}

function readTemplates(
  visit: Visit,
  { q, tags, isArchived }: CatalogFilter,
  owners: Query,
  cursor: string | undefined,
) {
  return visit.read(list, {
    query: {
      ...owners,
      ...(Object.keys(owners).length > 0 && { with_installation: 'true' }),
      ...(q && { q }),
      ...(tags.length > 0 && { tag: tags }),
      ...(isArchived && { archived: 'true' }),
      ...(cursor && { cursor }),
      limit: String(pageSize),
    },
  });
}
