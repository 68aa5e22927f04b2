import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { WebhookCursorSchema, WebhookDeliverySchema, WebhookQueueSchema, WebhookSchema } from './entity.ts';
import { webhookKinds } from './ownership.ts';
import { webhookSecrets } from './secrets.ts';

export const entities = [WebhookSchema, WebhookQueueSchema, WebhookCursorSchema, WebhookDeliverySchema] as const;
export const ownership = webhookKinds;

export const features = {
  webhooks: {
    title: 'Webhooks',
    operations: ['webhooks'],
    searched: ['webhook'],
  },
} as const satisfies Record<string, Feature>;

export const systemActions = {
  'webhook.disabled': {
    summary:
      'Disable a webhook whose endpoint is gone, to which nothing could be delivered for days, or whose project or team got another owner',
    resourceType: 'webhooks',
    actor: 'webhook delivery',
  },
} as const satisfies Record<string, DeclaredAction>;

/** The secrets that sign the requests to webhooks. */
export const sealed = [
  sealedColumn({
    table: 'webhooks',
    column: 'sealedSecret',
    key: ['id'],
    context: ({ id }) => webhookSecrets.contextOf(id),
  }),
  sealedColumn({
    table: 'webhooks',
    column: 'sealedPreviousSecret',
    key: ['id'],
    context: ({ id }) => webhookSecrets.contextOf(id),
  }),
];

export const errorCodes = {
  webhook_disabled: 'Nothing is sent to a disabled webhook.',
} as const;
export const searched = {
  webhook: ownedCandidates({ table: 'webhooks', installation: 'administrators', anyOf: ['webhook:manage'] }),
};
