import {
  NotificationCursorSchema,
  NotificationPreferenceSchema,
  NotificationSchema,
  UserChatSchema,
} from './entity.ts';
import { notificationsFeature } from './feature.ts';
import { notificationTables } from './ownership.ts';
import { notificationSeals } from './sealed.ts';

export const entities = [
  NotificationSchema,
  NotificationPreferenceSchema,
  NotificationCursorSchema,
  UserChatSchema,
] as const;
export const ownership = notificationTables;
export const features = { notifications: notificationsFeature };
export const sealed = notificationSeals;
