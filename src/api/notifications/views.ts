import { z } from 'zod';
import { own } from '#api/identity/session-operations.ts';
import { actionsOf } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { notificationKindNames, subjectKinds } from '#domain/news/model.ts';
import { notificationStates, stateOf } from '#domain/notifications/model.ts';
import type { NotificationDetails, ThreadDetails } from '#domain/notifications/store.ts';
import type { Access, Ownership } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';

/** Only users get notifications, and they see only their own. */
export const ownAsUser: Access = { ...own, principals: ['user'] };

export const NotificationParams = z.strictObject({ id: Id });

/** What a user may do with their own notification. Repeating an action changes nothing. */
export const notificationActions = actionsOf<Ownership>()({
  read: { operation: 'notifications.read' },
  archive: { operation: 'notifications.put_away' },
  unarchive: { operation: 'notifications.take_back' },
});

const Subject = z.object({ kind: z.enum(subjectKinds), id: AnswerId });

/** A notification in a list. */
export const ListedNotificationView = z
  .object({
    id: AnswerId,
    kind: z.enum(notificationKindNames),
    state: z.enum(notificationStates),
    subject: Subject,
    title: z.string(),
    created_at: Time,
    read_at: Time.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'ListedNotification' });

export const NotificationView = ListedNotificationView.extend({ actions: notificationActions.view }).meta({
  id: 'Notification',
});

export const ThreadView = z
  .object({
    id: AnswerId.describe('The id of the subject.'),
    subject: Subject,
    count: z.int().describe('How many notifications are about the subject, without archived ones.'),
    unread: z.int(),
    latest: ListedNotificationView,
  })
  .meta({ id: 'NotificationThread' });

export function viewNotification(notification: NotificationDetails): z.input<typeof ListedNotificationView> {
  const { subjectKind, subjectId } = notification;
  const subject = { kind: subjectKind, id: subjectId };
  return answerOf(ListedNotificationView.shape, { ...notification, state: stateOf(notification), subject });
}

export function viewThread({ count, unread: unreadCount, ...latest }: ThreadDetails): z.input<typeof ThreadView> {
  const shown = viewNotification(latest);
  return { id: latest.subjectId, subject: shown.subject, count, unread: unreadCount, latest: shown };
}
