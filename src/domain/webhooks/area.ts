import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { WebhookCursorSchema, WebhookDeliverySchema, WebhookQueueSchema, WebhookSchema } from './entity.ts';
import { webhooksFeature } from './feature.ts';
import { webhookKinds } from './ownership.ts';
import { webhookSeals } from './sealed.ts';

export const entities = [WebhookSchema, WebhookQueueSchema, WebhookCursorSchema, WebhookDeliverySchema] as const;
export const ownership = webhookKinds;
export const features = { webhooks: webhooksFeature };

export const systemActions = {
  'webhook.disabled': {
    summary:
      'Disable a webhook whose endpoint is gone, to which nothing could be delivered for days, or whose project or team got another owner',
    resourceType: 'webhooks',
    actor: 'webhook delivery',
  },
} as const satisfies Record<string, DeclaredAction>;
export const sealed = webhookSeals;

export const errorCodes = {
  webhook_disabled: 'Nothing is sent to a disabled webhook.',
} as const;
export const searched = {
  webhook: ownedCandidates({ table: 'webhooks', installation: 'administrators', anyOf: ['webhook:manage'] }),
};
