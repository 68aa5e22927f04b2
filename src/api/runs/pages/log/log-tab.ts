import { renderEmpty } from '#api/web/components/table.ts';
import { html } from '#api/web/html.ts';
import { getLogs } from '../../log-operations.ts';
import type { RunTab } from '../run-tab.ts';

const mostLines = 1000;

/** The log of a run: its first lines. */
export const logTab: RunTab = {
  key: 'log',
  label: 'Log',
  async render(visit, run) {
    const { entries } = await visit.read(getLogs, { params: { id: run.id }, query: { limit: '1000' } });
    if (entries.length === 0) return renderEmpty('No log yet', 'The log begins when a worker starts to plan.');
    const lines = entries.flatMap(({ text }) => text.split('\n')).slice(0, mostLines);
    return html`<pre class="log foreign" tabindex="0" aria-label="Log">${lines.join('\n')}</pre>`;
  },
};
