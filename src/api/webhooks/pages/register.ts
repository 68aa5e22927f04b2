import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerDeliveryPages } from './delivery-page.ts';
import { registerWebhookForms } from './forms.ts';
import { showWebhooks } from './list-page.ts';
import { registerRotation } from './secret-page.ts';
import { registerTestForm } from './test-form.ts';
import { showWebhook } from './webhook-page.ts';

/** Adds the pages of webhooks and their deliveries. */
export function registerWebhookPages(addPage: AddPage): void {
  addPage('GET', pages.webhooks, showWebhooks);
  registerWebhookForms(addPage);
  addPage('GET', pages.webhook, showWebhook);
  registerRotation(addPage);
  registerTestForm(addPage);
  registerDeliveryPages(addPage);
}
