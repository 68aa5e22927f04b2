import { pages } from '#api/web/paths.ts';
import type { SeededWebhooks } from '../webhooks.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of webhooks and their deliveries. */
export function webhookPages(webhooks: SeededWebhooks): DeclaredPage[] {
  const who = 'owner';
  const params = { id: webhooks.chat };
  const delivery = { ...params, deliveryID: webhooks.failedDelivery };
  return [
    declare('webhooks', pages.webhooks, { who, isPictured: true }),
    declare('webhooks-empty', pages.webhooks, { who: 'fjordOwner' }),
    declare('webhooks-refused', pages.webhooks, { who: 'viewer', answers: 403 }),
    declare('webhook', pages.webhook, { params, who, isPictured: true }),
    declare('webhook-failed-deliveries', pages.webhook, { params, who, query: { status: 'failed' } }),
    declare('webhook-failing', pages.webhook, { params: { id: webhooks.failing }, who }),
    declare('webhook-gone', pages.webhook, { params: { id: webhooks.gone }, who }),
    declare('webhook-without-deliveries', pages.webhook, { params: { id: webhooks.empty }, who }),
    declare('webhook-of-strangers', pages.webhook, { params, who: 'fjordOwner', answers: 404 }),
    declare('webhook-new', pages.newWebhook, { who }),
    declare('webhook-edit', pages.editWebhook, { params, who }),
    declare('webhook-test', pages.testWebhook, { params, who }),
    declare('webhook-rotate', pages.rotateWebhook, { params, who }),
    declare('webhook-delete', pages.deleteWebhook, { params, who }),
    declare('webhook-delivery', pages.webhookDelivery, { params: delivery, who, isPictured: true }),
    declare('webhook-redeliver', pages.redeliverWebhook, { params: delivery, who }),
  ];
}
