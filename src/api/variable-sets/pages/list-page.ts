import type { FastifyReply } from 'fastify';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { type Attachment, readFirstAttachments } from '#domain/variable-sets/attachments-store.ts';
import { list } from '../operations.ts';
import { type ListedSet, placePath, setPath } from './labels.ts';
import { mayCreateSet } from './owners.ts';

/** The number of places of a set that the list names. */
const maxPlaces = 3;

type Places = ReadonlyMap<string, readonly Attachment[]>;

/** Shows the variable sets in the scope of the address that the visitor may read, or those of an environment. */
export async function showVariableSets(visit: Visit): Promise<FastifyReply> {
  const environmentId = visit.query('environment_id');
  const environment =
    environmentId === undefined ? null : await visit.read(getEnvironment, { params: { id: environmentId } });
  const filter = { ...scopeQuery(visit.scope), environment_id: environmentId };
  const cursor = visit.query('cursor');
  const { variable_sets: sets, next_cursor: next } = await visit.read(list, { query: { ...filter, cursor } });
  const ownedSets = sets.map(({ id, organization_id, team_id, project_id }) => ({
    id,
    organizationId: organization_id,
    teamId: team_id,
    projectId: project_id,
  }));
  const [names, places, mayCreate] = await Promise.all([
    readOwnerNames(visit, sets),
    readFirstAttachments(visit.em, ownedSets, { reader: visit.principal, max: maxPlaces }),
    mayCreateSet(visit),
  ]);
  return showList(visit, {
    title: 'Variable sets',
    below: 'Variables shared by several environments, such as the region and the credentials of a cloud account.',
    page: pages.variableSets,
    kept: filter,
    create: [mayCreate, 'New variable set', pagePath(pages.newVariableSet, {}, scopeQuery(visit.scope))],
    above:
      environment &&
      html`<p>Attached to <a class="foreign" href="${placePath({ type: 'environment', id: environment.id })}">${environment.name}</a> or to its project. <a href="${pagePath(pages.variableSets)}">Show all</a></p>`,
    rows: sets,
    columns: columnsOf(names, places),
    next,
    empty: [
      'No variable sets yet',
      'A set belongs to an organization, a team or a project, and can be attached to its projects and environments.',
    ],
  });
}

function columnsOf(names: Names, places: Places): Column<ListedSet>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (set) => html`<a class="foreign" href="${setPath(set)}">${set.name}</a>`,
    },
    { label: 'Owner', cell: (set) => renderOwner(set, names) },
    { label: 'Variables', kind: 'number', cell: ({ variables }) => String(variables) },
    { label: 'Attached to', cell: (set) => renderPlaces(set, places.get(set.id) ?? []) },
    { label: 'Created', kind: 'minor', cell: ({ created_at: at }) => renderTime(String(at)) },
  ];
}

/** The first places of a set, and the number of others. */
function renderPlaces({ attachments: count }: ListedSet, shown: readonly Attachment[]): Html {
  if (count === 0) return html`<span class="muted">nothing</span>`;
  const more = count - shown.length;
  return html`<ul class="plain-list places" role="list">${shown.map(
    ({ kind: type, id, name, isEffective }) =>
      html`<li><a class="foreign" href="${placePath({ type, id })}">${name}</a>${isEffective ? null : html` <span class="muted">with a different owner now</span>`}</li>`,
  )}${more > 0 ? html`<li class="muted">and ${more} more</li>` : null}</ul>`;
}
