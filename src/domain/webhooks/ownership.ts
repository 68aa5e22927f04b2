import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { ownerLinks } from '#domain/tenancy/owned/links.ts';

export const webhookKinds = [
  {
    kind: 'webhook',
    table: 'webhooks',
    label: 'name',
    revision: true,
    owners: [...ownerLinks({ cascade: { rows: 'deleted' } })],
  },
  {
    kind: 'webhook_queue',
    table: 'webhook_queues',
    key: ['webhook_id'],
    owners: [{ kind: 'webhook', columns: ['webhook_id'], cascade: { rows: 'deleted' } }],
  },
] as const satisfies readonly Declaration[];
