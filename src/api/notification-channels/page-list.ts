import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  notificationChannels: '/admin/notification-channels',
  newNotificationChannel: '/admin/notification-channels/new',
  notificationChannel: '/admin/notification-channels/:id',
  editNotificationChannel: '/admin/notification-channels/:id/edit',
  testNotificationChannel: '/admin/notification-channels/:id/test',
  rotateNotificationChannel: '/admin/notification-channels/:id/rotate',
  deleteNotificationChannel: '/admin/notification-channels/:id/delete',
  subscribeNotificationChannel: '/admin/notification-channels/:id/subscriptions/new',
  unsubscribeNotificationChannel: '/admin/notification-channels/:id/subscriptions/:index/remove',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.notificationChannels]: { deleted: 'Channel deleted. Waiting messages are discarded.' },
  [pages.notificationChannel]: {
    created: 'Channel created.',
    saved: 'Changes saved.',
    subscribed: 'Subscription added.',
    'subscribed-covered':
      'Subscription added. A wider subscription brings these events already, so this one changes nothing until you remove the wider one.',
    unsubscribed: 'Subscription removed.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  notification_channels: {
    kind: 'notification_channel',
    label: 'Notification channels',
    icon: 'message-square',
    page: ({ id }) => toPath(pages.notificationChannel, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
