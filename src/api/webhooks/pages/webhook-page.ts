import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderSince, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { deliveryStatuses, disabledReasons } from '#domain/webhooks/model.ts';
import { listOf } from '../delivery-operations.ts';
import { describeCount } from './list-page.ts';
import {
  deliveryLooks,
  describeAnswer,
  readShown,
  renderHealth,
  type ShownDelivery,
  type ShownWebhook,
  type WebhookVisit,
  webhooksCrumb,
} from './words.ts';

/** A webhook: where it sends what, whether that works, and its deliveries. */
export async function showWebhook(visit: WebhookVisit): Promise<FastifyReply> {
  const webhook = await readShown(visit);
  const names = await readOwnerNames(visit, [webhook]);
  const { id, name, url, events, pending_deliveries: pending } = webhook;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [webhooksCrumb],
  beside: renderHealth(webhook),
  below: html`Of ${renderOwner(webhook, names)}`,
  actions: renderButtons(webhook),
  history: ['webhooks', id],
})}
${renderNews(visit, pages.webhook)}
${renderTrouble(webhook)}
<div class="panel">${renderFacts([
      ['Sends to', html`<span class="mono foreign">${url}</span>`],
      ['Events', html`<span class="mono foreign">${events.join(', ')}</span>`],
      ['Waiting', describeCount(pending)],
      ['Old secret', webhook.overlap_until && html`signs too until ${renderTime(String(webhook.overlap_until))}`],
      ['Created', renderTime(String(webhook.created_at))],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
<h2>Deliveries</h2>
${await renderDeliveries(visit, webhook)}
</div>`,
  });
}

/** What keeps events from the endpoint now, and what to do about it. */
function renderTrouble({ enabled, disabled_reason: reason, failing_since: failing }: ShownWebhook): Html | null {
  const remedy = 'Mend the endpoint, send a test, and enable the webhook: then what waits is sent.';
  if (!enabled && reason) return html`<p class="notice notice-problem">${disabledReasons[reason]} ${remedy}</p>`;
  if (!enabled)
    return html`<p class="notice">The webhook is disabled and hears nothing. What waited before is sent once somebody enables it.</p>`;
  if (!failing) return null;
  return html`<p class="notice notice-problem">Nothing could be delivered ${renderSince(String(failing))}. Each delivery is tried again for three days. After three days without success, the service disables the webhook.</p>`;
}

function renderButtons({ id, actions }: ShownWebhook): Html {
  return renderActions(actions, {
    test: { label: 'Send a test', icon: 'rocket', tone: 'primary', path: pagePath(pages.testWebhook, { id }) },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editWebhook, { id }) },
    rotate: { label: 'Rotate the secret', icon: 'key-round', path: pagePath(pages.rotateWebhook, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteWebhook, { id }) },
  });
}

async function renderDeliveries(visit: WebhookVisit, { id }: ShownWebhook): Promise<Html> {
  const status = deliveryStatuses.find((each) => each === visit.query('status'));
  const cursor = visit.query('cursor');
  const { deliveries, next_cursor: next } = await visit.read(listOf, { params: { id }, query: { status, cursor } });
  const link = (query: object) => pagePath(pages.webhook, { id }, { status, ...query });
  const chips = [undefined, ...deliveryStatuses].map(
    (each) =>
      html`<li><a class="chip" href="${link({ status: each })}" ${each === status ? html`aria-current="true"` : null}>${each ? deliveryLooks[each].word : 'All'}</a></li>`,
  );
  return html`<nav aria-label="Filter by status"><ul class="chips">${chips}</ul></nav>
<div class="list-panel">${deliveries.length > 0 ? renderTable({ caption: 'Deliveries, newest first', rows: deliveries, columns }) : renderNone(status)}</div>
${renderPages({ cursor, next }, link)}`;
}

const columns: Column<ShownDelivery>[] = [
  {
    label: 'Event',
    kind: 'main',
    cell: ({ id: deliveryID, webhook_id: id, event }) =>
      html`<a class="foreign" href="${pagePath(pages.webhookDelivery, { id, deliveryID })}">${event.type}</a>`,
  },
  { label: 'Status', cell: ({ status }) => renderStatusBadge(deliveryLooks[status]) },
  { label: 'Tries', kind: 'number', cell: ({ attempts }) => String(attempts) },
  { label: 'Answer', cell: ({ answer }) => html`<span class="muted">${describeAnswer(answer)}</span>` },
  { label: 'Next try', kind: 'minor', cell: ({ next_attempt_at: at }) => at && renderTime(String(at)) },
  { label: 'Since', cell: ({ created_at: at }) => renderTime(String(at)) },
];

function renderNone(status: ShownDelivery['status'] | undefined): Html {
  if (status !== undefined) return renderEmpty('None like this', 'No delivery of this webhook has this status.');
  return renderEmpty(
    'No deliveries yet',
    'They appear when something happens that the webhook hears. A test is not listed.',
  );
}
