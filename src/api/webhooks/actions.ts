import { actionsOf } from '#api/pipeline/actions.ts';
import type { WebhookTarget } from '#domain/webhooks/store.ts';

/** What a caller may do with a webhook. */
export const webhookActions = actionsOf<WebhookTarget>()({
  update: { operation: 'webhooks.update' },
  test: { operation: 'webhooks.test' },
  rotate: { operation: 'webhooks.rotate' },
  redeliver: {
    operation: 'webhooks.redeliver',
    findRefusal: ({ webhook }) => (webhook.isEnabled ? null : { message: 'the webhook is disabled: enable it first' }),
  },
  delete: { operation: 'webhooks.delete' },
});
