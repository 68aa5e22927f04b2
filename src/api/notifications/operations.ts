import { z } from 'zod';
import { own } from '#api/identity/session-operations.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId, Flag, pageOf, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import {
  keptDays,
  mostCounted,
  mostLookedAt,
  notificationKindNames,
  notificationStates,
  stateOf,
  subjectKinds,
} from '#domain/notifications/model.ts';
import {
  countUnread,
  listNotifications,
  listThread,
  listThreads,
  markAllRead,
  markNotification,
  type NotificationDetails,
  readNotification,
  type ThreadDetails,
} from '#domain/notifications/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';

/** Only people are told of something, and everybody sees their own notifications alone. */
export const ownAsUser: Access = { ...own, principals: ['user'] };

const NotificationParams = z.strictObject({ id: Id });

const Subject = z.object({ kind: z.enum(subjectKinds), id: AnswerId });

export const NotificationView = z
  .object({
    id: AnswerId,
    kind: z.enum(notificationKindNames),
    state: z.enum(notificationStates),
    subject: Subject,
    title: z.string(),
    created_at: Time,
    read_at: Time.nullable(),
  })
  .meta({ id: 'Notification' });

export const ThreadView = z
  .object({
    id: AnswerId.describe('The id of the subject.'),
    subject: Subject,
    count: z.int().describe('How many notifications are about the subject, without archived ones.'),
    unread: z.int(),
    latest: NotificationView,
  })
  .meta({ id: 'NotificationThread' });

export const list = read({
  id: 'notifications.list',
  route: 'GET /api/v1/notifications',
  summary: 'List your notifications, newest first',
  description: `What you may not read any more is left out. Notifications are kept for ${keptDays} days.`,
  query: z.strictObject({
    ...pageQuery,
    unread: Flag.optional().describe('`true`: only unread ones; `false`: only those that you have read.'),
    archived: Flag.optional().describe('`true`: only archived ones, which the list leaves out otherwise.'),
    kind: z.enum(notificationKindNames).optional(),
  }),
  responses: { 200: pageOf('notifications', NotificationView) },
  access: ownAsUser,
  handle: async ({ em, principal, query }) => {
    const unread = query.unread === undefined ? undefined : query.unread === 'true';
    const filter = { unread, archived: query.archived === 'true', kind: query.kind };
    const page = await listNotifications(em, principal, filter, query);
    return { notifications: page.items.map(viewNotification), next_cursor: page.nextCursor };
  },
});

export const unread = read({
  id: 'notifications.count_unread',
  route: 'GET /api/v1/notifications/unread',
  summary: 'Count your unread notifications',
  responses: {
    200: z
      .object({
        unread: z
          .int()
          .describe(
            `Of your newest ${mostLookedAt} unread ones, those that you may still read; ${mostCounted} at the most.`,
          ),
      })
      .meta({ id: 'UnreadNotifications' }),
  },
  access: ownAsUser,
  handle: async ({ em, principal }) => ({ unread: await countUnread(em, principal) }),
});

export const get = read({
  id: 'notifications.get',
  route: 'GET /api/v1/notifications/:id',
  summary: 'Read one of your notifications',
  description: 'This does not mark it as read.',
  params: NotificationParams,
  responses: { 200: NotificationView },
  access: ownAsUser,
  handle: async ({ em, principal, params }) => viewNotification(await findOwn(em, principal, params.id)),
});

export const markRead = command({
  id: 'notifications.read',
  route: 'POST /api/v1/notifications/:id/read',
  summary: 'Mark one of your notifications as read',
  params: NotificationParams,
  responses: { 200: NotificationView },
  at: get,
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.read',
  handle: ({ tx, principal, params }) => mark(tx.em, principal, params.id, 'read'),
});

export const archive = command({
  id: 'notifications.put_away',
  route: 'POST /api/v1/notifications/:id/archive',
  summary: 'Archive one of your notifications, which marks it as read',
  params: NotificationParams,
  responses: { 200: NotificationView },
  at: get,
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.archived',
  handle: ({ tx, principal, params }) => mark(tx.em, principal, params.id, 'archived'),
});

export const readAll = command({
  id: 'notifications.read_all',
  route: 'POST /api/v1/notifications/read-all',
  summary: 'Mark all of your notifications as read',
  responses: {
    200: z.object({ read: z.int().describe('How many were unread.') }).meta({ id: 'ReadNotifications' }),
  },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.all_read',
  handle: async ({ tx, principal }) => {
    const count = await markAllRead(tx.em, principal);
    return { id: null, after: { count }, answer: { read: count } };
  },
});

export const threads = read({
  id: 'notifications.list_threads',
  route: 'GET /api/v1/notifications/threads',
  summary: 'List your notifications by what they are about, those with the newest first',
  query: z.strictObject({
    ...pageQuery,
    unread: Flag.optional().describe('`true`: only what you have unread notifications about.'),
    kind: z.enum(notificationKindNames).optional().describe('Only where the newest notification is of this kind.'),
  }),
  responses: { 200: pageOf('threads', ThreadView) },
  access: ownAsUser,
  handle: async ({ em, principal, query }) => {
    const filter = { unread: query.unread === 'true', kind: query.kind };
    const page = await listThreads(em, principal, filter, query);
    return { threads: page.items.map(viewThread), next_cursor: page.nextCursor };
  },
});

export const thread = read({
  id: 'notifications.get_thread',
  route: 'GET /api/v1/notifications/threads/:id',
  summary: 'List your notifications about one subject, by its id, archived ones included',
  params: NotificationParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('notifications', NotificationView) },
  access: ownAsUser,
  resourceId: () => null,
  handle: async ({ em, principal, params, query }) => {
    const page = await listThread(em, principal, params.id, query);
    if (page.items.length === 0 && query.cursor === undefined) throw new HiddenResource('thread');
    return { notifications: page.items.map(viewNotification), next_cursor: page.nextCursor };
  },
});

async function mark(em: Em, principal: Principal, id: string, as: 'read' | 'archived') {
  const before = stateOf(await findOwn(em, principal, id));
  await markNotification(em, principal, id, as);
  const shown = viewNotification(await readBack(readNotification(em, principal, id)));
  return { id, before: { state: before }, after: { state: shown.state }, answer: shown };
}

/** @throws HiddenResource also where the user may not read the subject any more */
async function findOwn(em: Em, principal: Principal, id: string): Promise<NotificationDetails> {
  const found = await readNotification(em, principal, id);
  if (!found) throw new HiddenResource('notification');
  return found;
}

function viewNotification(notification: NotificationDetails): z.input<typeof NotificationView> {
  const { id, kind, title, subjectKind, subjectId, createdAt, readAt } = notification;
  const subject = { kind: subjectKind, id: subjectId };
  return { id, kind, state: stateOf(notification), subject, title, created_at: createdAt, read_at: readAt };
}

function viewThread({ count, unread: unreadCount, ...latest }: ThreadDetails): z.input<typeof ThreadView> {
  const shown = viewNotification(latest);
  return { id: latest.subjectId, subject: shown.subject, count, unread: unreadCount, latest: shown };
}
