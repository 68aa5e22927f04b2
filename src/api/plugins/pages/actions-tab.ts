import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { list } from '../action-operations.ts';
import {
  approved,
  describeSelectors,
  notApproved,
  notDeclared,
  type PluginVisit,
  type ShownAction,
  type ShownPlugin,
} from './views.ts';

/** The actions that releases have declared, and whether each may be assigned. */
export async function renderActions(visit: PluginVisit, { id }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const { actions, next_cursor: next } = await visit.read(list, { query: { installation_id: id, cursor } });
  return html`<div class="list-panel">${
    actions.length > 0
      ? renderTable({ caption: 'Actions of the plugin', rows: actions, columns })
      : renderEmpty('No actions', 'Actions appear once a release is activated and its manifest is staged.')
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugin, { id }, query))}`;
}

const columns: readonly Column<ShownAction>[] = [
  {
    label: 'Action',
    kind: 'main',
    cell: ({ id, name }) =>
      html`<code class="foreign">${name}</code>${renderCopiedId(`the id of the action ${name}`, id)}`,
  },
  { label: 'State', cell: (action) => renderStatusBadge(lookOf(action)) },
  { label: 'On', cell: ({ selectors }) => describeSelectors(selectors) },
  { label: 'Effects', cell: ({ effects }) => renderEffects(effects) },
  { label: 'Revision', kind: 'number', cell: ({ revision }) => String(revision) },
  {
    label: 'Assignments',
    cell: ({ installation_id: id, name }) =>
      html`<a href="${pagePath(pages.plugin, { id }, { tab: 'assignments', action: name })}">Show<span class="unseen"> the assignments of ${name}</span></a>`,
  },
];

function lookOf({ declared: isDeclared, approved: isApproved }: ShownAction) {
  if (!isDeclared) return notDeclared;
  return isApproved ? approved : notApproved;
}

export function renderEffects(effects: readonly string[]): Html {
  return effects.length > 0
    ? html`<span class="mono foreign">${effects.join(', ')}</span>`
    : html`<span class="muted">none</span>`;
}
