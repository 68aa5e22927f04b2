import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
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
  return visit.show({
    title: 'Plugins',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Plugins',
  below:
    'Programs that extend this service: what they declare, what is approved, and who may do what. They are changed with the API.',
})}
${renderChips((query) => pagePath(pages.plugins, {}, { ...filter, ...query }), deleted)}
<div class="list-panel">${
      installations.length > 0
        ? renderTable({
            caption: deleted ? 'Removed plugins' : 'Installed plugins',
            rows: installations,
            columns: columnsOf(names, deleted !== undefined),
          })
        : renderEmpty(
            deleted ? 'No removed plugins' : 'No plugins yet',
            'Organizations and teams install plugins with the API. A plugin does nothing until its actions are approved and assigned.',
          )
    }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugins, {}, { ...filter, deleted, ...query }))}
</div>`,
  });
}

function renderChips(link: (query: object) => LocalPath, deleted: string | undefined): Html {
  const chips = [undefined, 'true'].map(
    (each) =>
      html`<li><a class="chip" href="${link({ deleted: each })}" ${each === deleted ? html`aria-current="true"` : null}>${each ? 'Removed' : 'Installed'}</a></li>`,
  );
  return html`<nav aria-label="Filter by state"><ul class="chips">${chips}</ul></nav>`;
}

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
