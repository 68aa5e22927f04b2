import { ownerLinks } from '#domain/owners/links.ts';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const webhookKinds = [
  {
    kind: 'webhook',
    table: 'webhooks',
    label: 'name',
    revision: true,
    disabledByTransfer: 'webhook.disabled',
    owners: [...ownerLinks({ cascade: { rows: 'deleted' } })],
  },
  {
    kind: 'webhook_queue',
    table: 'webhook_queues',
    key: ['webhookId'],
    owners: [{ kind: 'webhook', columns: ['webhookId'], cascade: { rows: 'deleted' } }],
  },
] as const satisfies readonly Declaration[];
