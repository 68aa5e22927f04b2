import type { FastifyReply } from 'fastify';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { notificationKindNames } from '#domain/notifications/model.ts';
import { list } from '../operations.ts';
import { renderMark } from './marks.ts';
import { kindLabels, renderState, renderTitle, type ShownNotification } from './words.ts';

/** What the list shows: unread ones unless the address says otherwise. */
const views = [
  { value: undefined, label: 'Unread', query: { unread: 'true' } },
  { value: 'all', label: 'All', query: {} },
  { value: 'archived', label: 'Archived', query: { archived: 'true' } },
] as const;

/** What the visitor was told, newest first. */
export async function showNotifications(visit: Visit): Promise<FastifyReply> {
  const view = views.find(({ value }) => value === visit.query('show')) ?? views[0];
  const kind = notificationKindNames.find((each) => each === visit.query('kind'));
  const cursor = visit.query('cursor');
  const { notifications, next_cursor: next } = await visit.read(list, { query: { ...view.query, kind, cursor } });
  const link = (query: Query) => pagePath(pages.notifications, {}, { show: view.value, kind, ...query });
  return visit.show({
    title: 'Notifications',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Notifications',
  below: 'What concerns you, and what you may still read.',
  actions: html`<div class="actions">${renderMark({ path: pagePath(pages.readAllNotifications), label: 'Mark all as read' })}<a class="button button-small" href="${pagePath(pages.notificationPreferences)}">Preferences</a></div>`,
})}
${renderNews(visit, pages.notifications)}
<nav aria-label="Filter by state"><ul class="chips">${views.map(({ value, label }) => chip(label, link({ show: value }), value === view.value))}</ul></nav>
<nav aria-label="Filter by kind"><ul class="chips">${[undefined, ...notificationKindNames].map((each) => chip(each ? kindLabels[each] : 'Every kind', link({ kind: each }), each === kind))}</ul></nav>
<div class="list-panel">${
      notifications.length > 0
        ? renderTable({ caption: 'Notifications, newest first', rows: notifications, columns })
        : renderEmpty(
            'Nothing here',
            'You hear of reviews that you are asked for, of runs that you requested, and of what needs your attention.',
          )
    }</div>
${renderPages({ cursor, next }, link)}
</div>`,
  });
}

function chip(label: string, path: string, isCurrent: boolean): Html {
  return html`<li><a class="chip" href="${path}" ${isCurrent ? html`aria-current="true"` : null}>${label}</a></li>`;
}

const columns: Column<ShownNotification>[] = [
  { label: 'What', kind: 'main', cell: renderTitle },
  { label: 'State', cell: ({ state }) => renderState(state) },
  { label: 'Kind', kind: 'minor', cell: ({ kind }) => kindLabels[kind] },
  { label: 'Since', cell: ({ created_at: at }) => renderTime(String(at)) },
  {
    label: 'About the same',
    kind: 'minor',
    cell: ({ subject: { id } }) => html`<a href="${pagePath(pages.notificationThread, { id })}">Thread</a>`,
  },
  { label: 'Put away', cell: renderMarks },
];

function renderMarks({ id, state, title: about }: ShownNotification): Html | null {
  if (state === 'archived') return null;
  return html`<div class="actions">${state === 'unread' ? renderMark({ path: pagePath(pages.readNotification, { id }), label: 'Read', about }) : null}${renderMark({ path: pagePath(pages.archiveNotification, { id }), label: 'Archive', about })}</div>`;
}
