/** In which states what people were told is, and how long it is kept. Pure. */

export const notificationStates = ['unread', 'read', 'archived'] as const;
export type NotificationState = (typeof notificationStates)[number];

/** What becomes of older ones: they are deleted, read or not. */
export const keptDays = 90;

/** More unread ones are not counted. */
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

/** `archived`: it is put away, and read as well. `unarchived`: it is taken back. */
export type Mark = 'read' | 'archived' | 'unarchived';
