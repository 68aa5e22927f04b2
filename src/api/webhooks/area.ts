import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as deliveries from './delivery-operations.ts';
import * as webhooks from './operations.ts';
import { deliveryPages } from './pages/delivery-page.ts';
import { webhookForms } from './pages/forms.ts';
import { showWebhooks } from './pages/list-page.ts';
import { webhookRotationForm } from './pages/secret-page.ts';
import { testForm } from './pages/test-form.ts';
import { showWebhook } from './pages/webhook-page.ts';

export const area: Area = {
  operations: [webhooks, deliveries],
  tags: {
    webhooks: 'Sending what happens to other services, signed, and what these have answered.',
  },
  pages: [
    page('GET', pages.webhooks, showWebhooks),
    ...webhookForms,
    page('GET', pages.webhook, showWebhook),
    webhookRotationForm,
    testForm,
    ...deliveryPages,
  ],
  navigation: [
    { group: 'Integrations', label: 'Webhooks', icon: 'webhook', path: pages.webhooks, operation: 'webhooks.list' },
  ],
};
