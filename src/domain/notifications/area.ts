import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { chatContext } from './chats-store.ts';
import {
  NotificationCursorSchema,
  NotificationPreferenceSchema,
  NotificationSchema,
  UserChatSchema,
} from './entity.ts';
import { notificationsFeature } from './feature.ts';
import { notificationTables } from './ownership.ts';

export const entities = [
  NotificationSchema,
  NotificationPreferenceSchema,
  NotificationCursorSchema,
  UserChatSchema,
] as const;
export const ownership = notificationTables;
export const features = { notifications: notificationsFeature };

/** The addresses of users' chats. */
export const sealed = [
  sealedColumn({
    table: 'user_chats',
    column: 'sealedUrl',
    key: ['userId'],
    context: ({ userId }) => chatContext(userId),
  }),
];
