import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { labelOf } from '#domain/news/model.ts';
import { subjectPath } from '#domain/news/subjects.ts';
import { thread } from '../thread-operations.ts';
import { notificationsCrumb, renderState, renderTitle, type ShownNotification } from './labels.ts';
import { renderMarks, renderThreadMarks } from './marks.ts';

const columns: Column<ShownNotification>[] = [
  { label: 'Notification', kind: 'main', cell: renderTitle },
  { label: 'State', cell: ({ state }) => renderState(state) },
  { label: 'Kind', kind: 'minor', cell: ({ kind }) => labelOf(kind) },
  { label: 'Time', cell: ({ created_at: at }) => renderTime(String(at)) },
  { label: 'Archive', cell: renderMarks },
];

/** Shows all of the visitor's notifications about one subject, archived or not. */
export async function showThread(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const { id } = visit.params;
  const cursor = visit.query('cursor');
  const found = await visit.read(thread, { params: { id }, query: { cursor } });
  const { notifications, next_cursor: next, subject_name: name } = found;
  const newest = notifications[0];
  const title = name ?? newest?.title ?? 'Related notifications';
  const subject =
    newest && html` <a href="${subjectPath(newest.subject.kind, newest.subject.id)}">Open the subject</a>.`;
  const unread = notifications.filter(({ state }) => state === 'unread').length;
  const mayPutAway = notifications.some(({ state }) => state !== 'archived');
  const actions = mayPutAway ? renderThreadMarks({ id, unread, about: 'about this' }) : null;
  return visit.show({
    title,
    main: html`<div class="page page-wide">
${renderPageHead({ title, crumbs: [notificationsCrumb], below: html`All notifications about this, newest first, including archived ones.${subject}`, actions })}
<div class="list-panel">${renderTable({ caption: 'Notifications, newest first', rows: notifications, columns })}</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.notificationThread, { id }, query))}
</div>`,
  });
}
