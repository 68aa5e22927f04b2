import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { keptDays, mostCounted, mostLookedAt, notificationKindNames, stateOf } from '#domain/notifications/model.ts';
import {
  countUnread,
  listNotifications,
  markAllRead,
  markNotification,
  type NotificationDetails,
  readNotification,
} from '#domain/notifications/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { NotificationParams, NotificationView, ownAsUser, viewNotification } from './views.ts';

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

export const unarchive = command({
  id: 'notifications.take_back',
  route: 'POST /api/v1/notifications/:id/unarchive',
  summary: 'Take one of your notifications out of the archive; it stays read',
  params: NotificationParams,
  responses: { 200: NotificationView },
  at: get,
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.unarchived',
  handle: ({ tx, principal, params }) => mark(tx.em, principal, params.id, 'unarchived'),
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

async function mark(em: Em, principal: Principal, id: string, as: 'read' | 'archived' | 'unarchived') {
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
