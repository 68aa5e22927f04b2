import type { FastifyReply } from 'fastify';
import { page } from '#api/web/declarations/area.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { newId } from '#domain/shared/ids.ts';
import { archive, markRead, readAll, unarchive } from '../operations.ts';
import { archiveThread, readThread } from '../thread-operations.ts';
import type { ShownNotification, ShownThread } from './labels.ts';

/** A button that marks something. Pressing it twice has the same effect as once. */
export function renderMark({
  path,
  label,
  about,
}: {
  readonly path: LocalPath;
  readonly label: string;
  readonly about?: string;
}): Html {
  return html`<form method="post" action="${path}"><input type="hidden" name="key" value="${newId()}"><button class="button button-small" type="submit">${label}${about ? html`<span class="unseen"> ${about}</span>` : null}</button></form>`;
}

/** The buttons that mark a notification as read or archive it. */
export function renderMarks({ id, state, title: about }: ShownNotification): Html | null {
  if (state === 'archived') {
    const path = pagePath(pages.unarchiveNotification, { id });
    return html`<div class="actions">${renderMark({ path, label: 'Unarchive', about })}</div>`;
  }
  return html`<div class="actions">${state === 'unread' ? renderMark({ path: pagePath(pages.readNotification, { id }), label: 'Mark as read', about }) : null}${renderMark({ path: pagePath(pages.archiveNotification, { id }), label: 'Archive', about })}</div>`;
}

/** The buttons that mark everything about one subject as read or archive it. */
export function renderThreadMarks({
  id,
  unread,
  about,
}: Pick<ShownThread, 'id' | 'unread'> & { readonly about: string }): Html {
  return html`<div class="actions">${unread > 0 ? renderMark({ path: pagePath(pages.readNotificationThread, { id }), label: 'Mark all as read', about }) : null}${renderMark({ path: pagePath(pages.archiveNotificationThread, { id }), label: 'Archive all', about })}</div>`;
}

async function submitRead(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  await visit.run(markRead, { params: { id: visit.params.id } });
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'read' }));
}

async function submitArchive(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  await visit.run(archive, { params: { id: visit.params.id } });
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'archived' }));
}

async function submitUnarchive(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  await visit.run(unarchive, { params: { id: visit.params.id } });
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'unarchived' }));
}

async function submitReadThread(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  await visit.run(readThread, { params: { id: visit.params.id } });
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'thread-read' }));
}

async function submitArchiveThread(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  await visit.run(archiveThread, { params: { id: visit.params.id } });
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'thread-archived' }));
}

async function submitReadAll(visit: Visit): Promise<FastifyReply> {
  await visit.run(readAll);
  return visit.redirect(pagePath(pages.notifications, {}, { done: 'all-read' }));
}

/** The handlers of the buttons in the list. */
export const marks = [
  page('POST', pages.readNotification, submitRead),
  page('POST', pages.archiveNotification, submitArchive),
  page('POST', pages.unarchiveNotification, submitUnarchive),
  page('POST', pages.readNotificationThread, submitReadThread),
  page('POST', pages.archiveNotificationThread, submitArchiveThread),
  page('POST', pages.readAllNotifications, submitReadAll),
];
