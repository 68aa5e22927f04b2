import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const ofUser = { kind: 'user', columns: ['user_id'], cascade: { rows: 'deleted' } } as const;

export const notificationTables = [
  { kind: 'notification', table: 'notifications', label: 'title', revision: true, owners: [ofUser] },
  {
    kind: 'notification_preference',
    table: 'notification_preferences',
    key: ['user_id', 'kind'],
    owners: [ofUser],
  },
  { kind: 'user_chat', table: 'user_chats', key: ['user_id'], owners: [ofUser] },
] as const satisfies readonly Declaration[];
