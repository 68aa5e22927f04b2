import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { chatContext } from './chats-store.ts';

/** The addresses of users' chats. */
export const notificationSeals = [
  sealedColumn({
    table: 'user_chats',
    column: 'sealed_url',
    key: ['user_id'],
    context: ({ user_id: userId }) => chatContext(userId),
  }),
];
