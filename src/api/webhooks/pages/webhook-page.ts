import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderSince, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { disabledReasons } from '#domain/webhooks/model.ts';
import { readDeliveries } from './delivery-list.ts';
import { readShown, renderHealth, type ShownWebhook, type WebhookVisit, webhooksCrumb } from './labels.ts';
import { describeCount } from './list-page.ts';

/** Shows a webhook: its destination and events, its health, and its deliveries. */
export async function showWebhook(visit: WebhookVisit): Promise<FastifyReply> {
  const webhook = await readShown(visit);
  const names = await readOwnerNames(visit, [webhook]);
  const { id, name, url, host, events, pending_deliveries: pending } = webhook;
  const { live, address } = await readDeliveries(visit);
  const content = html`${renderPageHead({
    title: name,
    crumbs: [webhooksCrumb],
    beside: renderHealth(webhook),
    below: html`Owned by ${renderOwner(webhook, names)}`,
    actions: renderButtons(webhook),
    history: ['webhooks', id],
  })}
${renderTrouble(webhook)}
<div class="panel">${renderFacts([
    ['Sends to', html`<span class="mono foreign">${url ?? host}</span>`],
    ['Events', html`<span class="mono foreign">${events.join(', ')}</span>`],
    ['Waiting', describeCount(pending)],
    ['Old secret', webhook.overlap_until && html`also valid until ${renderTime(String(webhook.overlap_until))}`],
    ['Created', renderTime(String(webhook.created_at))],
    ['Id', html`<code>${id}</code>`],
  ])}</div>
<h2>Deliveries</h2>
${live}`;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.webhook)}
${renderLive({ stream: null, address, again: '5s' }, content)}
</div>`,
  });
}

/** Why events do not reach the endpoint now, and what to do about it. */
function renderTrouble({
  enabled,
  disabled_reason: reason,
  failing_since: failing,
  problem,
}: ShownWebhook): Html | null {
  const remedy =
    reason === 'transferred'
      ? 'Check its URL and rotate its secret before you enable it: its creator may receive the messages.'
      : 'Fix the endpoint, send a test, and enable the webhook: waiting deliveries are then sent.';
  if (!enabled && reason) return html`<p class="notice notice-problem">${disabledReasons[reason]} ${remedy}</p>`;
  if (!enabled)
    return html`<p class="notice">The webhook is disabled and gets no events. Deliveries that waited before are sent once it is enabled.</p>`;
  if (!failing) return null;
  return html`<div class="notice notice-problem"><p>Nothing could be delivered ${renderSince(String(failing))}: <span class="foreign">${problem ?? 'the last attempt failed'}</span>. Each delivery is retried for three days. After three days without success, the service disables the webhook.</p></div>`;
}

function renderButtons({ id, actions }: ShownWebhook): Html {
  return renderActions(actions, {
    test: { label: 'Send a test', icon: 'rocket', tone: 'primary', path: pagePath(pages.testWebhook, { id }) },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editWebhook, { id }) },
    rotate: { label: 'Rotate the secret', icon: 'key-round', path: pagePath(pages.rotateWebhook, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteWebhook, { id }) },
  });
}
