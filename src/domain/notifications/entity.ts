import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { NotificationKind, SubjectKind } from '#domain/news/model.ts';
import type { EventCursor } from '#domain/shared/events/cursor.ts';
import type { Mark } from './model.ts';

/** A notification of a user. */
export const NotificationSchema = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  uniques: [{ name: 'notifications_cause_unique', properties: ['userId', 'cause'] }],
  indexes: [
    { name: 'notifications_user_index', properties: ['userId', 'id'] },
    { name: 'notifications_thread_index', properties: ['userId', 'subjectId', 'id'] },
    { name: 'notifications_created_at_index', properties: ['createdAt'] },
    {
      name: 'notifications_unread_index',
      expression: `create index "notifications_unread_index" on "notifications" ("user_id", "id") where "read_at" is null and "archived_at" is null`,
    },
  ],
  properties: {
    id: id(),
    userId: p.uuid(),
    kind: p.string().$type<NotificationKind>(),
    subjectKind: p.string().$type<SubjectKind>(),
    subjectId: p.uuid(),
    title: p.text(),
    /**
     * The cause: an event, something about to happen with its time, or the request of a review with its requester, run and day. A user gets
     * one notification for each cause.
     */
    cause: p.text(),
    readAt: at().nullable(),
    archivedAt: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class Notification extends NotificationSchema.class {
  /** Marks it as read or archived, or unarchives it. Repeating the same mark changes nothing. */
  mark(as: Mark): void {
    const isSo = { read: this.readAt, archived: this.archivedAt, unarchived: !this.archivedAt }[as];
    if (isSo) return;
    const now = new Date();
    this.readAt ??= now;
    if (as !== 'read') this.archivedAt = as === 'archived' ? now : null;
    this.revision += 1;
  }
}
NotificationSchema.setClass(Notification);

/** A user's preference for one kind of notification. */
export const NotificationPreferenceSchema = defineEntity({
  name: 'NotificationPreference',
  tableName: 'notification_preferences',
  properties: {
    userId: p.uuid().primary(),
    kind: p.string().$type<NotificationKind>().primary(),
    inPage: p.boolean(),
    /** Null: the default of the kind. */
    byEmail: p.boolean().nullable(),
    byChat: p.boolean().nullable(),
  },
});
export class NotificationPreference extends NotificationPreferenceSchema.class {}
NotificationPreferenceSchema.setClass(NotificationPreference);

/** The chat of a user: an address that accepts incoming webhooks like Slack's. */
export const UserChatSchema = defineEntity({
  name: 'UserChat',
  tableName: 'user_chats',
  properties: {
    userId: p.uuid().primary(),
    host: p.text(),
    /** The address is sealed, because anybody who knows it can post there. */
    sealedUrl: p.blob().hidden(),
  },
});
export class UserChat extends UserChatSchema.class {}
UserChatSchema.setClass(UserChat);

/** The cursor of the notifications of users over all events: one row. */
export const NotificationCursorSchema = defineEntity({
  name: 'NotificationCursor',
  tableName: 'notification_cursors',
  properties: { id: id(), cursor: p.json<EventCursor>() },
});
export class NotificationCursor extends NotificationCursorSchema.class {}
NotificationCursorSchema.setClass(NotificationCursor);
