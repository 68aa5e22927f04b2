import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  webhooks: '/admin/webhooks',
  newWebhook: '/admin/webhooks/new',
  webhook: '/admin/webhooks/:id',
  editWebhook: '/admin/webhooks/:id/edit',
  testWebhook: '/admin/webhooks/:id/test',
  rotateWebhook: '/admin/webhooks/:id/rotate',
  deleteWebhook: '/admin/webhooks/:id/delete',
  webhookDelivery: '/admin/webhooks/:id/deliveries/:deliveryID',
  redeliverWebhook: '/admin/webhooks/:id/deliveries/:deliveryID/redeliver',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.webhooks]: { deleted: 'Webhook deleted. Waiting deliveries are discarded.' },
  [pages.webhook]: { saved: 'Changes saved.' },
  [pages.webhookDelivery]: {
    repeated: 'Message sent again. This is its new delivery.',
    tried: 'Delivery retried now.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  webhooks: {
    kind: 'webhook',
    label: 'Webhooks',
    icon: 'webhook',
    page: ({ id }) => toPath(pages.webhook, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
