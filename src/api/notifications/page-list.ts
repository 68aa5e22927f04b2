import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  notifications: '/notifications',
  notificationPreferences: '/notifications/preferences',
  notificationThread: '/notifications/threads/:id',
  readNotificationThread: '/notifications/threads/:id/read',
  archiveNotificationThread: '/notifications/threads/:id/archive',
  readNotification: '/notifications/:id/read',
  archiveNotification: '/notifications/:id/archive',
  unarchiveNotification: '/notifications/:id/unarchive',
  readAllNotifications: '/notifications/read-all',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.notifications]: {
    read: 'Notification marked as read.',
    archived: 'Notification archived.',
    unarchived: 'Notification unarchived.',
    'all-read': 'All notifications marked as read.',
    'thread-read': 'Thread marked as read.',
    'thread-archived': 'Thread archived.',
  },
  [pages.notificationPreferences]: { saved: 'Preferences saved.' },
} as const satisfies ConfirmationsOn<typeof pages>;
