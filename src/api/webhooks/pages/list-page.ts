import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { maxCounted } from '#domain/webhooks/store.ts';
import { list } from '../operations.ts';
import { type ListedWebhook, renderHealth, webhookPath } from './labels.ts';
import { webhookOwners } from './owners.ts';

/** The webhooks that the visitor may read, in the scope of the address, with the health of their endpoints. */
export async function showWebhooks(visit: Visit): Promise<FastifyReply> {
  const filter = { ...scopeQuery(visit.scope), project_id: visit.query('project_id') };
  const cursor = visit.query('cursor');
  const { webhooks, next_cursor: next } = await visit.read(list, { query: { ...filter, cursor } });
  const [names, mayCreate] = await Promise.all([readOwnerNames(visit, webhooks), webhookOwners.mayCreate(visit)]);
  return showList(visit, {
    title: 'Webhooks',
    below: 'Send events to your own endpoints, signed.',
    page: pages.webhooks,
    kept: filter,
    create: [mayCreate, 'New webhook', pagePath(pages.newWebhook, {}, filter)],
    rows: webhooks,
    columns: columnsOf(names),
    next,
    empty: [
      'No webhooks yet',
      'A webhook belongs to an organization, a team or a project, and gets the events of what its owner owns.',
    ],
  });
}

function columnsOf(names: Names): Column<ListedWebhook>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (webhook) => html`<a class="foreign" href="${webhookPath(webhook)}">${webhook.name}</a>`,
    },
    { label: 'State', cell: renderHealth },
    { label: 'Sends to', cell: ({ host }) => html`<span class="foreign">${host}</span>` },
    { label: 'Owner', cell: (webhook) => renderOwner(webhook, names) },
    { label: 'Waiting', kind: 'number', cell: ({ pending_deliveries: count }) => describeCount(count) },
    { label: 'Created', kind: 'minor', cell: ({ created_at: at }) => renderTime(String(at)) },
  ];
}

/** The number of waiting deliveries. The service counts only up to a limit. */
export function describeCount(count: number): string {
  return count >= maxCounted ? `${maxCounted} or more` : String(count);
}
