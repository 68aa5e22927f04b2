/** The states of notifications, and how long they are kept. Pure. */

export const notificationStates = ['unread', 'read', 'archived'] as const;
export type NotificationState = (typeof notificationStates)[number];

/** How many days notifications are kept. Older ones are deleted, even if they are unread. */
export const keptDays = 90;

/** The maximum number of unread notifications that are counted. */
export const maxCounted = 1000;
/** How many of the newest unread ones are examined. Those that the user may still read are counted. */
export const maxLookedAt = 10_000;

export function stateOf(times: {
  readonly readAt: string | null;
  readonly archivedAt: string | null;
}): NotificationState {
  if (times.archivedAt !== null) return 'archived';
  return times.readAt === null ? 'unread' : 'read';
}

/** `archived`: it is archived, and counts as read. `unarchived`: it is no longer archived. */
export type Mark = 'read' | 'archived' | 'unarchived';
