import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { list } from '../operations.ts';
import { connectionOwners } from './forms.ts';
import { connectionPath, kindWords, type ListedConnection } from './labels.ts';

/** Shows the connections in the scope of the address that the visitor may read, on one page. */
export async function showConnections(visit: Visit): Promise<FastifyReply> {
  const filter = { ...scopeQuery(visit.scope), project_id: visit.query('project_id') };
  const { connections } = await visit.read(list, { query: filter });
  const [names, mayCreate] = await Promise.all([readOwnerNames(visit, connections), connectionOwners.mayCreate(visit)]);
  return showList(visit, {
    title: 'Connections',
    below: 'Credentials for clouds, registries and repositories, used by runs and when versions are published.',
    page: pages.connections,
    create: [mayCreate, 'New connection', pagePath(pages.newConnection, {}, filter)],
    rows: connections,
    columns: columnsOf(names),
    empty: [
      'No connections yet',
      'A connection stores credentials in one place. Bind it to projects and environments, and templates use it by name.',
    ],
  });
}

function columnsOf(names: Names): Column<ListedConnection>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (connection) => html`<a class="foreign" href="${connectionPath(connection)}">${connection.name}</a>`,
    },
    { label: 'Kind', cell: ({ kind }) => kindWords[kind] },
    { label: 'Owner', cell: (connection) => renderOwner(connection, names) },
    { label: 'Provides', cell: renderProvided },
    { label: 'Credentials set', kind: 'minor', cell: ({ credentials_set_at: at }) => renderTime(String(at)) },
  ];
}

const maxNames = 3;

/** The names that a connection provides, shortened. Its page has all of them. */
function renderProvided({ provides }: ListedConnection): Html {
  const more = provides.length - maxNames;
  return html`<span class="mono foreign">${provides.slice(0, maxNames).join(', ')}</span>${more > 0 ? html` <span class="muted">and ${more} more</span>` : null}`;
}
