import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { webhookSecrets } from './secrets.ts';

/** The secrets that sign the requests to webhooks. */
export const webhookSeals = [
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
