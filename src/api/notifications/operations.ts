import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { notificationKindNames } from '#domain/news/model.ts';
import { lockNotification, markAllRead, markNotification } from '#domain/notifications/marks-store.ts';
import { keptDays, type Mark, maxCounted, maxLookedAt, stateOf } from '#domain/notifications/model.ts';
import {
  countUnread,
  listNotifications,
  type NotificationDetails,
  readNotification,
} from '#domain/notifications/store.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import {
  ListedNotificationView,
  NotificationParams,
  NotificationView,
  notificationActions,
  ownAsUser,
  viewNotification,
} from './views.ts';

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
  responses: { 200: pageOf('notifications', ListedNotificationView) },
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
            `Of your newest ${maxLookedAt} unread ones, those that you may still read; ${maxCounted} at the most.`,
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
  handle: async ({ em, principal, operations, params }) =>
    view(await findOwn(em, principal, params.id), { operations, principal }),
});

interface Marking {
  readonly id: `notifications.${string}`;
  readonly route: `POST /api/v1/notifications/:id/${string}`;
  readonly summary: string;
  readonly audit: string;
}

/** A command that marks one notification of the caller. */
function marking(as: Mark, declared: Marking) {
  return command({
    ...declared,
    description: 'One that is so already stays as it is.',
    params: NotificationParams,
    responses: { 200: NotificationView },
    at: get,
    access: ownAsUser,
    ifMatch: true,
    idempotency: 'none',
    handle: async ({ tx: { em }, principal, operations, params: { id }, expectedRevision }) => {
      const known = await lockNotification(em, principal, id);
      const before = await findOwn(em, principal, id);
      refuseStale(known ?? before, expectedRevision);
      await markNotification(em, id, as);
      const answer = view(await readBack(readNotification(em, principal, id)), { operations, principal });
      const states = { before: { state: stateOf(before) }, after: { state: answer.state } };
      const audited = comparedIf(states.before.state !== states.after.state, states);
      return { id, ...audited, revision: answer.revision, answer };
    },
  });
}

export const markRead = marking('read', {
  id: 'notifications.read',
  route: 'POST /api/v1/notifications/:id/read',
  summary: 'Mark one of your notifications as read',
  audit: 'notification.read',
});

export const archive = marking('archived', {
  id: 'notifications.put_away',
  route: 'POST /api/v1/notifications/:id/archive',
  summary: 'Archive one of your notifications, which marks it as read',
  audit: 'notification.archived',
});

export const unarchive = marking('unarchived', {
  id: 'notifications.take_back',
  route: 'POST /api/v1/notifications/:id/unarchive',
  summary: 'Take one of your notifications out of the archive; it stays read',
  audit: 'notification.unarchived',
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
    return { id: null, ...comparedIf(count > 0, { after: { count } }), answer: { read: count } };
  },
});

function view(notification: NotificationDetails, context: ActionContext): z.input<typeof NotificationView> {
  return { ...viewNotification(notification), actions: notificationActions.describe(context, installationOwnership) };
}

/** @throws HiddenResource, also if the user may no longer read the subject */
async function findOwn(em: Em, principal: Principal, id: string): Promise<NotificationDetails> {
  const found = await readNotification(em, principal, id);
  if (!found) throw new HiddenResource('notification');
  return found;
}
