import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const ofUser = { kind: 'user', columns: ['userId'], cascade: { rows: 'deleted' } } as const;

export const notificationTables = [
  { kind: 'notification', table: 'notifications', label: 'title', revision: true, owners: [ofUser] },
  {
    kind: 'notification_preference',
    table: 'notification_preferences',
    key: ['userId', 'kind'],
    owners: [ofUser],
  },
  { kind: 'user_chat', table: 'user_chats', key: ['userId'], owners: [ofUser] },
] as const satisfies readonly Declaration[];
