import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Selector } from '#domain/plugins/model.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { list } from '../resource-operations.ts';
import { active, ended, type PluginVisit, readPlaceNames, renderPlace, type ShownPlugin } from './views.ts';

/** The resources of the plugin that the visitor may read. */
export async function renderResources(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const deleted = visit.query('deleted') === 'true' ? 'true' : undefined;
  const query = { installation_id: id, deleted, cursor } as const;
  const { resources, next_cursor: next } = await visit.read(list, { query });
  const names = await readPlaceNames(visit, resources.map(toSelector));
  const link = (others: object) => pagePath(pages.plugin, { id }, { tab: 'resources', deleted, ...others });
  const chips = [undefined, 'true'].map(
    (each) =>
      html`<li><a class="chip" href="${link({ deleted: each })}" ${each === deleted ? html`aria-current="true"` : null}>${each ? 'Deleted' : 'Present'}</a></li>`,
  );
  return html`<nav aria-label="Filter by state"><ul class="chips">${chips}</ul></nav>
<div class="list-panel">${
    resources.length > 0
      ? renderTable({ caption: 'Resources, newest first', rows: resources, columns: columnsOf(names) })
      : renderEmpty(
          'None here',
          deleted ? 'No resource of the plugin is deleted.' : 'The plugin manages nothing that you may read.',
        )
  }</div>
${renderPages({ cursor, next }, link)}`;
}

interface ListedResource extends Owners {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly key: string;
  readonly revision: number;
  readonly deleted_at: unknown;
}

function columnsOf(names: Names): readonly Column<ListedResource>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: ({ id, name }) =>
        html`<a class="foreign" href="${pagePath(pages.pluginResource, { id })}">${name}</a>${renderCopiedId(`the id of the resource ${name}`, id)}`,
    },
    { label: 'Type', cell: ({ type }) => html`<code class="foreign">${type}</code>` },
    { label: 'Key', cell: ({ key }) => html`<code class="foreign">${key}</code>` },
    { label: 'Of', cell: (resource) => renderPlace(toSelector(resource), names) },
    { label: 'State', cell: ({ deleted_at: at }) => renderResourceState(at !== null) },
    { label: 'Revision', kind: 'number', cell: ({ revision }) => String(revision) },
  ];
}

export function renderResourceState(isDeleted: boolean): Html {
  return renderStatusBadge(isDeleted ? { ...ended, word: 'Deleted' } : active);
}

interface Owners {
  readonly environment_id: string | null;
  readonly project_id: string | null;
  readonly team_id: string;
}

/** The owner of a resource as a selector. */
export function toSelector({ environment_id, project_id, team_id }: Owners): Selector {
  if (environment_id !== null) return { type: 'environment', id: environment_id };
  return project_id === null ? { type: 'team', id: team_id } : { type: 'project', id: project_id };
}
