import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/** The notifications about webhooks. */
export const webhookNews = {
  'webhook.disabled': {
    label: 'Webhook disabled',
    toUsers: 'The service disabled a webhook that you manage.',
    toChannels: 'The service disabled a webhook.',
    subject: 'webhook',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
