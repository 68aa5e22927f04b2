import { z } from 'zod';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { notificationKindNames } from '#domain/news/model.ts';
import { findSubjectName } from '#domain/news/subjects.ts';
import { markThread } from '#domain/notifications/marks-store.ts';
import { listThread, listThreads } from '#domain/notifications/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import {
  ListedNotificationView,
  NotificationParams,
  ownAsUser,
  ThreadView,
  viewNotification,
  viewThread,
} from './views.ts';

export const threads = read({
  id: 'notification_threads.list',
  route: 'GET /api/v1/notifications/threads',
  summary: 'List your notifications by what they are about, those with the newest first',
  query: z.strictObject({
    ...pageQuery,
    unread: Flag.optional().describe('`true`: only what you have unread notifications about; `false`: only the rest.'),
    kind: z.enum(notificationKindNames).optional().describe('Only where the newest notification is of this kind.'),
  }),
  responses: { 200: pageOf('threads', ThreadView) },
  access: ownAsUser,
  handle: async ({ em, principal, query }) => {
    const filter = { unread: query.unread && query.unread === 'true', kind: query.kind };
    const page = await listThreads(em, principal, filter, query);
    return { threads: page.items.map(viewThread), next_cursor: page.nextCursor };
  },
});

export const thread = read({
  id: 'notification_threads.get',
  route: 'GET /api/v1/notifications/threads/:id',
  summary: 'List your notifications about one subject, by its id, archived ones included',
  params: NotificationParams,
  query: z.strictObject(pageQuery),
  responses: {
    200: pageOf('notifications', ListedNotificationView)
      .extend({
        subject_name: z
          .string()
          .nullable()
          .describe('What the subject is called, such as "Webhook Chat"; null where it is gone or has no name.'),
      })
      .meta({ id: 'NotificationsOfThread' }),
  },
  access: ownAsUser,
  handle: async ({ em, principal, params, query }) => {
    const page = await listThread(em, principal, params.id, query);
    if (page.items.length === 0 && query.cursor === undefined) throw new HiddenResource('thread');
    const [first] = page.items;
    const subjectName = first ? await findSubjectName(em, { kind: first.subjectKind, id: first.subjectId }) : null;
    return {
      notifications: page.items.map(viewNotification),
      next_cursor: page.nextCursor,
      subject_name: subjectName,
    };
  },
});

export const readThread = command({
  id: 'notification_threads.read',
  route: 'POST /api/v1/notifications/threads/:id/read',
  summary: 'Mark your notifications about one subject as read',
  params: NotificationParams,
  responses: {
    200: z.object({ read: z.int().describe('How many were unread.') }).meta({ id: 'ReadThread' }),
  },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.thread_read',
  handle: async ({ tx, principal, params }) => {
    const count = await markOwnThread(tx.em, principal, params.id, 'read');
    return { id: params.id, ...comparedIf(count > 0, { after: { count } }), answer: { read: count } };
  },
});

export const archiveThread = command({
  id: 'notification_threads.put_away',
  route: 'POST /api/v1/notifications/threads/:id/archive',
  summary: 'Archive your notifications about one subject, which marks them as read',
  description: 'Later notifications about the subject are not archived: they begin the thread again.',
  params: NotificationParams,
  responses: {
    200: z.object({ archived: z.int().describe('How many were not archived yet.') }).meta({ id: 'ArchivedThread' }),
  },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification.thread_archived',
  handle: async ({ tx, principal, params }) => {
    const count = await markOwnThread(tx.em, principal, params.id, 'archived');
    return { id: params.id, ...comparedIf(count > 0, { after: { count } }), answer: { archived: count } };
  },
});

/** @throws HiddenResource if the user has no notification about the subject, or may no longer read it */
async function markOwnThread(em: Em, principal: Principal, subjectId: string, as: 'read' | 'archived') {
  const { items } = await listThread(em, principal, subjectId, { limit: 1 });
  if (items.length === 0) throw new HiddenResource('thread');
  return markThread(em, principal, subjectId, as);
}
