import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import type { Html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { ShownStatus } from '#domain/webhooks/model.ts';
import { get } from '../operations.ts';
import type { DeliveryDetailsView, DeliveryView, ListedWebhookView, WebhookView } from '../views.ts';

export type ListedWebhook = z.input<typeof ListedWebhookView>;
export type ShownWebhook = z.input<typeof WebhookView>;
export type ShownDelivery = z.input<typeof DeliveryView>;
export type ShownDeliveryDetails = z.input<typeof DeliveryDetailsView>;
export type ShownTry = ShownDeliveryDetails['tries'][number];
export type WebhookVisit = Visit<{ id: string }>;

export function readShown(visit: WebhookVisit): Promise<ShownWebhook> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function webhookPath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.webhook>): LocalPath {
  return pagePath(pages.webhook, { id }, { done });
}

export const webhooksCrumb: Crumb = { label: 'Webhooks', path: pagePath(pages.webhooks) };

export function webhookCrumbs(webhook: Pick<ShownWebhook, 'id' | 'name'>): Crumb[] {
  return [webhooksCrumb, { label: webhook.name, path: webhookPath(webhook) }];
}

/** Shows whether an endpoint accepts its messages. */
export function renderHealth(webhook: ListedWebhook): Html {
  return renderStatusBadge(lookOf(webhook));
}

function lookOf({ enabled, disabled_reason: reason, failing_since: failing }: ListedWebhook): StatusLook {
  if (!enabled && reason) return { word: 'Disabled by the service', icon: 'octagon-x', tone: 'failed' };
  if (!enabled) return { word: 'Disabled', icon: 'ban', tone: 'canceled' };
  if (failing) return { word: 'Failing', icon: 'triangle-alert', tone: 'approval' };
  return { word: 'Enabled', icon: 'circle-check', tone: 'succeeded' };
}

export const deliveryLooks: Readonly<Record<ShownStatus, StatusLook>> = {
  pending: { word: 'Waiting', icon: 'circle-dashed', tone: 'queued' },
  retrying: { word: 'Retrying', icon: 'triangle-alert', tone: 'approval' },
  delivered: { word: 'Delivered', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  withheld: { word: 'Withheld', icon: 'ban', tone: 'canceled' },
};

/** An endpoint's answer in short, such as "204 after 35 ms". */
export function describeAnswer(answer: Pick<ShownTry, 'status' | 'milliseconds'> | null): string {
  if (answer === null) return 'none';
  return `${answer.status ?? 'no answer'} after ${answer.milliseconds} ms`;
}

/** Declares a form about webhooks. */
export const webhookForm = formsAbout({ read: readShown, crumbs: webhookCrumbs, path: webhookPath });
