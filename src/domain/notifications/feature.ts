import type { Feature } from '#domain/shared/features/feature.ts';

export const notificationsFeature = {
  title: 'Notifications',
  operations: ['notifications', 'notification_threads', 'notification_preferences', 'notification_channels'],
  searched: ['notification_channel'],
} as const satisfies Feature;
