import type { Feature } from '#domain/shared/features/feature.ts';

export const notificationsFeature = {
  title: 'Notifications',
  operations: ['notifications', 'notification_preferences'],
} as const satisfies Feature;
