import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names-store.ts';
import { list } from '../installation-operations.ts';
import type { ListedPlugin } from './words.ts';

/** The installed plugins that the visitor may read, in the scope of the address. */
export async function showPlugins(visit: Visit): Promise<FastifyReply> {
  const filter = scopeQuery(visit.scope);
  const cursor = visit.query('cursor');
  const { installations, next_cursor: next } = await visit.read(list, { query: { ...filter, cursor } });
  const owners = installations.map(toOwner);
  const names = await readOwnerNames(visit, owners);
  return visit.show({
    title: 'Plugins',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Plugins',
  below:
    'Programs of others that act through this service: what they declare, what is approved of them, and who may do what. Changes are made by the API.',
})}
<div class="list-panel">${
      installations.length > 0
        ? renderTable({ caption: 'Installed plugins', rows: installations, columns: columnsOf(names) })
        : renderEmpty(
            'No plugins here',
            'An organization or a team installs a plugin by the API. A plugin does nothing before its actions are approved and assigned.',
          )
    }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugins, {}, { ...filter, ...query }))}
</div>`,
  });
}

function columnsOf(names: Names): readonly Column<ListedPlugin>[] {
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
  ];
}

function toOwner({ organization_id, team_id }: ListedPlugin) {
  return { organization_id, team_id, project_id: null };
}
