import {
  NotificationCursorSchema,
  NotificationPreferenceSchema,
  NotificationSchema,
  UserChatSchema,
} from './entity.ts';
import { notificationTables } from './ownership.ts';

export const entities = [
  NotificationSchema,
  NotificationPreferenceSchema,
  NotificationCursorSchema,
  UserChatSchema,
] as const;
export const ownership = notificationTables;
