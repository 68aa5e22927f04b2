import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { list as listPrincipals } from '../background-operations.ts';
import { list as listGrants } from '../grant-operations.ts';
import {
  active,
  ended,
  inForce,
  type PluginVisit,
  readPlaceNames,
  renderPlace,
  type ShownPlugin,
  subjectWords,
} from './words.ts';

/** Who may do what, and why not any more. */
export async function renderAssignments(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const { grants, next_cursor: next } = await visit.read(listGrants, { query: { installation_id: id, cursor } });
  const names = await readPlaceNames(
    visit,
    grants.map(({ selector }) => selector),
    grants.map(({ granted_by: by }) => by),
  );
  return html`<p class="muted">No role gives an action of a plugin. It is assigned, for one place and what is in it, and an assignment that has ended never comes back.</p>
<div class="list-panel">${
    grants.length > 0
      ? renderTable({
          caption: 'Assignments, newest first',
          rows: grants,
          columns: [
            {
              label: 'Who',
              kind: 'main',
              cell: ({ subject }) =>
                html`<span class="foreign">${subject.name}</span> <span class="muted">${subjectWords[subject.type]}</span>`,
            },
            { label: 'Action', cell: ({ action }) => html`<code class="foreign">${action.name}</code>` },
            { label: 'Where', cell: ({ selector }) => renderPlace(selector, names) },
            { label: 'State', cell: ({ in_force: isInForce }) => renderStatusBadge(isInForce ? inForce : ended) },
            {
              label: 'Why not',
              cell: ({ ended: reason }) => reason && html`<span class="muted">${reason.message}</span>`,
            },
            {
              label: 'Assigned by',
              kind: 'minor',
              cell: ({ granted_by: by }) => html`<span class="foreign">${names.get(by)?.name ?? by}</span>`,
            },
            { label: 'Since', kind: 'minor', cell: ({ created_at: at }) => renderTime(String(at)) },
          ],
        })
      : renderEmpty(
          'Nobody may use an action',
          'Whoever manages the memberships of a place assigns the actions there, by the API.',
        )
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugin, { id }, { tab: 'assignments', ...query }))}`;
}

/** The identities with which the plugin acts when nobody asks. */
export async function renderPrincipals(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const query = { installation_id: id, cursor };
  const { background_principals: principals, next_cursor: next } = await visit.read(listPrincipals, { query });
  const names = await readPlaceNames(
    visit,
    principals.map(({ selector }) => selector),
  );
  return html`<div class="list-panel">${
    principals.length > 0
      ? renderTable({
          caption: 'Background principals, newest first',
          rows: principals,
          columns: [
            { label: 'Name', kind: 'main', cell: ({ name }) => html`<span class="foreign">${name}</span>` },
            {
              label: 'State',
              cell: ({ revoked_at: at }) => renderStatusBadge(at === null ? active : { ...ended, word: 'Revoked' }),
            },
            { label: 'Where', cell: ({ selector }) => renderPlace(selector, names) },
            { label: 'Approved', cell: ({ created_at: at }) => renderTime(String(at)) },
            { label: 'Id', kind: 'minor', cell: (principal) => html`<code>${principal.id}</code>` },
          ],
        })
      : renderEmpty(
          'No background principals',
          'The plugin acts for people and service accounts only. A background principal has no credential, and no action before one is assigned.',
        )
  }</div>
${renderPages({ cursor, next }, (page) => pagePath(pages.plugin, { id }, { tab: 'principals', ...page }))}`;
}
