import { type Column, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { ShownRun } from '../run-tab.ts';

type Used = ShownRun['connections'][number];

const columns: Column<Used>[] = [
  { label: 'Asked for as', kind: 'main', cell: ({ name }) => html`<span class="mono">${name}</span>` },
  {
    label: 'Connection',
    cell: ({ connection_id: id, connection }) =>
      id === null
        ? html`<span class="muted">hidden from you</span>`
        : html`<a class="foreign" href="${pagePath(pages.connection, { id })}">${connection}</a>`,
  },
  { label: 'Phase', cell: ({ phase }) => (phase === 'plan' ? 'Plan' : 'Apply') },
  { label: 'Credentials', kind: 'minor', cell: ({ credential_revision: revision }) => `revision ${revision}` },
];

/** The connections that the phases of a run were given. Only those who may read connections see which they are. */
export function renderConnections(used: readonly Used[]): Html {
  return renderTable({ caption: 'Connections that the run was given', rows: used, columns });
}
