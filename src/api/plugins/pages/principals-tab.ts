import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { list } from '../background-operations.ts';
import {
  active,
  ended,
  type PluginVisit,
  readPlaceNames,
  renderMoment,
  renderPerson,
  renderPlace,
  type ShownPlugin,
  type ShownPrincipal,
} from './views.ts';

/** The background principals of a plugin. It acts as one of them if no user or service account requested the work. */
export async function renderPrincipals(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const query = { installation_id: id, cursor };
  const { background_principals: principals, next_cursor: next } = await visit.read(list, { query });
  const names = await readPlaceNames(
    visit,
    principals.map(({ selector }) => selector),
    principals.flatMap(({ approved_by, revoked_by, ended: end }) => [approved_by, revoked_by, end?.by ?? null]),
  );
  return html`<div class="list-panel">${
    principals.length > 0
      ? renderTable({ caption: 'Background principals, newest first', rows: principals, columns: columnsOf(names) })
      : renderEmpty(
          'No background principals',
          'The plugin acts for people and service accounts only. A background principal has no credentials, and no actions until one is assigned.',
        )
  }</div>
${renderPages({ cursor, next }, (page) => pagePath(pages.plugin, { id }, { tab: 'principals', ...page }))}`;
}

function columnsOf(names: Names): readonly Column<ShownPrincipal>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: ({ id, name }) =>
        html`<span class="foreign">${name}</span>${renderCopiedId(`the id of the background principal ${name}`, id)}`,
    },
    {
      label: 'State',
      cell: ({ state, ended: end, revoked_at: at, revoked_by: by }) => {
        if (state === 'active') return renderStatusBadge(active);
        if (state === 'ended')
          return html`${renderStatusBadge(ended)}<div>${toSentence(end?.message ?? '')}${end?.at ? html` That was ${renderMoment(end.at, end.by, names)}.` : null}</div>`;
        return html`${renderStatusBadge({ ...ended, word: 'Revoked' })}<div>${renderMoment(at, by, names)}</div>`;
      },
    },
    { label: 'Where', cell: ({ selector }) => renderPlace(selector, names) },
    {
      label: 'Approved',
      cell: ({ created_at: at, approved_by: by }) => html`${renderTime(String(at))} by ${renderPerson(by, names)}`,
    },
    {
      label: 'Assignments',
      cell: ({ id, name, installation_id: plugin }) =>
        html`<a href="${pagePath(pages.plugin, { id: plugin }, { tab: 'assignments', subject: id })}">Show<span class="unseen"> the assignments of ${name}</span></a>`,
    },
  ];
}
