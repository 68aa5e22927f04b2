import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderChips } from '#api/web/components/chips.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { list } from '../installation-operations.ts';
import type { ListedPlugin } from './views.ts';

/** The installed plugins that the visitor may read, in the scope of the address. */
export async function showPlugins(visit: Visit): Promise<FastifyReply> {
  const filter = scopeQuery(visit.scope);
  const cursor = visit.query('cursor');
  const deleted = visit.query('deleted') === 'true' ? 'true' : undefined;
  const { installations, next_cursor: next } = await visit.read(list, { query: { ...filter, deleted, cursor } });
  const owners = installations.map(toOwner);
  const names = await readOwnerNames(visit, owners);
  const kept = { ...filter, deleted };
  return showList(visit, {
    title: 'Plugins',
    below:
      'Programs that extend this service: what they declare, what is approved, and who may do what. They are changed with the API.',
    page: pages.plugins,
    kept,
    above: renderChips('Filter by state', chips, deleted, (each) =>
      pagePath(pages.plugins, {}, { ...kept, deleted: each }),
    ),
    caption: deleted ? 'Removed plugins' : 'Installed plugins',
    rows: installations,
    columns: columnsOf(names, deleted !== undefined),
    next,
    empty: [
      deleted ? 'No removed plugins' : 'No plugins yet',
      'Organizations and teams install plugins with the API. A plugin does nothing until its actions are approved and assigned.',
    ],
  });
}

const chips = [
  { value: undefined, label: 'Installed' },
  { value: 'true', label: 'Removed' },
];

function columnsOf(names: Names, isDeleted: boolean): readonly Column<ListedPlugin>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: ({ id, name }) => html`<a class="foreign" href="${pagePath(pages.plugin, { id })}">${name}</a>`,
    },
    { label: 'Owner', cell: (plugin) => renderOwner(toOwner(plugin), names) },
    {
      label: 'Active release',
      cell: ({ active_release: release }) =>
        release ? html`<code class="foreign">${release}</code>` : html`<span class="muted">none yet</span>`,
    },
    { label: 'Revision', kind: 'number', cell: ({ revision }) => String(revision) },
    { label: 'Installed', kind: 'minor', cell: ({ created_at: at }) => renderTime(String(at)) },
    ...(isDeleted ? [removedColumn] : []),
  ];
}

const removedColumn: Column<ListedPlugin> = {
  label: 'Removed',
  cell: ({ deleted_at: at }) => renderTime(String(at)),
};

function toOwner({ organization_id, team_id }: ListedPlugin) {
  return { organization_id, team_id, project_id: null };
}
