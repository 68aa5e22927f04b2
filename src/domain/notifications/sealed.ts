import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { chatContext } from './chats-store.ts';

/** The addresses of users' chats. */
export const notificationSeals = [
  sealedColumn({
    table: 'user_chats',
    column: 'sealedUrl',
    key: ['userId'],
    context: ({ userId }) => chatContext(userId),
  }),
];
