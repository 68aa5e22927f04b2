import type { FastifyReply } from 'fastify';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list, set } from '../operations.ts';
import { kindLabels, type ListedQuota, nameOwner, quotaPath, renderUsage } from './labels.ts';

/** Shows all quotas with their usage. */
export async function showQuotas(visit: Visit): Promise<FastifyReply> {
  const cursor = visit.query('cursor');
  const { quotas, next_cursor: next } = await visit.read(list, { query: { ...(cursor && { cursor }) } });
  return showList(visit, {
    title: 'Quotas',
    below:
      'How much the installation, an organization, a team or an environment may use. Default quotas from the settings apply where no quota is set.',
    page: pages.quotas,
    create: [visit.mayDo(set), 'New quota', pagePath(pages.newQuota)],
    rows: quotas,
    columns,
    next,
    empty: ['No quotas', 'A quota limits runs, instances, templates, keys, or the bytes of states and logs.'],
  });
}

const columns: readonly Column<ListedQuota>[] = [
  {
    label: 'Owner',
    kind: 'main',
    cell: (quota) => html`<a class="foreign" href="${quotaPath(quota)}">${nameOwner(quota)}</a>`,
  },
  { label: 'Used', cell: renderUses },
  { label: 'Changed', kind: 'minor', cell: ({ updated_at: at }) => at && renderTime(String(at)) },
];

function renderUses({ limits, usage }: ListedQuota): Html {
  if (limits === null) return html`<strong>It cannot be read, and allows nothing: set or remove it.</strong>`;
  if (usage.length === 0) return html`<span class="muted">no limits</span>`;
  return html`<ul class="plain-list" role="list">${usage.map((use) => html`<li>${kindLabels[use.kind]}: ${renderUsage(use)}</li>`)}</ul>`;
}
