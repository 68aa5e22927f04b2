import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { channelSecrets, urlContext } from './secrets.ts';

const table = 'notification_channels';
const key = ['id'] as const;

/** The addresses of channels, and the secrets by which they sign. */
export const notificationChannelSeals = [
  sealedColumn({ table, column: 'sealedUrl', key, context: ({ id }) => urlContext(id) }),
  sealedColumn({ table, column: 'sealedSecret', key, context: ({ id }) => channelSecrets.contextOf(id) }),
  sealedColumn({ table, column: 'sealedPreviousSecret', key, context: ({ id }) => channelSecrets.contextOf(id) }),
];
