import { list } from '#api/connections/operations.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

type Used = ShownRun['connections'][number];

const columnsOf = (mayRead: boolean): Column<Used>[] => [
  { label: 'Asked for as', kind: 'main', cell: ({ name }) => html`<span class="mono">${name}</span>` },
  {
    label: 'Connection',
    cell: ({ connection_id: id, connection }) =>
      mayRead
        ? html`<a class="foreign" href="${pagePath(pages.connection, { id })}">${connection}</a>`
        : html`<span class="foreign">${connection}</span>`,
  },
  { label: 'Phase', cell: ({ phase }) => (phase === 'plan' ? 'Plan' : 'Apply') },
  { label: 'Credentials', kind: 'minor', cell: ({ credential_revision: revision }) => `revision ${revision}` },
];

/** The connections that the phases of a run were given, with links for those who may read connections. */
export function renderConnections(visit: RunVisit, used: readonly Used[]): Html {
  const columns = columnsOf(visit.mayDo(list).allowed);
  return renderTable({ caption: 'Connections that the run was given', rows: used, columns });
}
