import { renderEmpty, renderTable } from '#api/web/components/table.ts';
import { html } from '#api/web/html.ts';
import { getPlan } from '../../approval-operations.ts';
import type { RunTab } from '../run-tab.ts';

const mostChanges = 200;

/** The plan of a run: its changes. */
export const planTab: RunTab = {
  key: 'plan',
  label: 'Plan',
  async render(visit, run) {
    if (run.plan === null) return renderEmpty('No plan', 'This run has no plan.');
    const { changes } = await visit.read(getPlan, { params: { id: run.id } });
    const rows = changes.slice(0, mostChanges);
    return html`<div class="list-panel">${renderTable({
      caption: 'Changes of the plan',
      rows,
      columns: [
        { label: 'Resource', kind: 'main', cell: ({ address }) => html`<span class="foreign mono">${address}</span>` },
        { label: 'Action', cell: ({ action }) => action },
      ],
    })}</div>
${changes.length > mostChanges ? html`<p class="muted">Showing ${mostChanges} of ${changes.length} changes.</p>` : null}`;
  },
};
