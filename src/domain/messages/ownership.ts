import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const messageTables = [
  {
    kind: 'outgoing_message',
    table: 'outgoing_messages',
    owners: [{ kind: 'user', columns: ['userId'], cascade: { rows: 'deleted' } }],
    references: [{ kind: 'notification_channel', columns: ['channelId'], cascade: { rows: 'deleted' } }],
  },
] as const satisfies readonly Declaration[];
