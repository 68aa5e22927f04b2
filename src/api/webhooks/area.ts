import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as deliveries from './delivery-operations.ts';
import * as webhooks from './operations.ts';
import { registerWebhookPages } from './pages/register.ts';

export const area: Area = {
  operations: [webhooks, deliveries],
  tags: {
    webhooks: 'Sending what happens to other services, signed, and what these have answered.',
  },
  pages: [registerWebhookPages],
  navigation: [
    { group: 'Integrations', label: 'Webhooks', icon: 'webhook', path: pages.webhooks, operation: 'webhooks.list' },
  ],
};
