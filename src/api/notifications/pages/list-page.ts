import type { FastifyReply } from 'fastify';
import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { labelOf, notificationKindNames } from '#domain/news/model.ts';
import { list } from '../operations.ts';
import { threads } from '../thread-operations.ts';
import { renderState, renderTitle, type ShownNotification, type ShownThread } from './labels.ts';
import { renderMark, renderMarks, renderThreadMarks } from './marks.ts';

/** The views of the list. The default is what has unread notifications. */
const views = [
  { value: undefined, label: 'Unread' },
  { value: 'all', label: 'All' },
  { value: 'archived', label: 'Archived' },
] as const;

/** Lists the visitor's notifications by subject. The archive lists each notification. */
export async function showNotifications(visit: Visit): Promise<FastifyReply> {
  const view = views.find(({ value }) => value === visit.query('show')) ?? views[0];
  const kind = notificationKindNames.find((each) => each === visit.query('kind'));
  const cursor = visit.query('cursor');
  const query = { kind, cursor };
  const { table, next } =
    view.value === 'archived' ? await readArchived(visit, query) : await readThreads(visit, query, view.value);
  const link = (more: Query) => pagePath(pages.notifications, {}, { show: view.value, kind, ...more });
  return visit.show({
    title: 'Notifications',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Notifications',
  below: 'Events that concern you.',
  actions: html`<div class="actions">${renderMark({ path: pagePath(pages.readAllNotifications), label: 'Mark all as read' })}<a class="button button-small" href="${pagePath(pages.notificationPreferences)}">Preferences</a></div>`,
})}
${renderConfirmation(visit, pages.notifications)}
${renderChips('Filter by state', views, view.value, (show) => link({ show }))}
${renderChips('Filter by kind', withAll(notificationKindNames, labelOf, 'Every kind'), kind, (each) => link({ kind: each }))}
<div class="list-panel">${
      table ??
      renderEmpty(
        'No notifications',
        'You are notified of reviews that you are asked for, of runs that you requested, and of what needs your attention.',
      )
    }</div>
${renderPages({ cursor, next }, link)}
</div>`,
  });
}

interface Found {
  /** Null if there are none. */
  readonly table: Html | null;
  readonly next: string | null;
}

async function readThreads(visit: Visit, query: object, view: 'all' | undefined): Promise<Found> {
  const unread = view === 'all' ? undefined : 'true';
  const { threads: rows, next_cursor: next } = await visit.read(threads, { query: { ...query, unread } });
  const caption = 'Notifications, newest first';
  return { table: rows.length > 0 ? renderTable({ caption, rows, columns: threadColumns }) : null, next };
}

async function readArchived(visit: Visit, query: object): Promise<Found> {
  const { notifications: rows, next_cursor: next } = await visit.read(list, { query: { ...query, archived: 'true' } });
  const caption = 'Archived notifications, newest first';
  return { table: rows.length > 0 ? renderTable({ caption, rows, columns: archivedColumns }) : null, next };
}

const threadColumns: Column<ShownThread>[] = [
  { label: 'Newest', kind: 'main', cell: ({ latest }) => renderTitle(latest) },
  { label: 'State', cell: ({ unread }) => renderState(unread > 0 ? 'unread' : 'read') },
  { label: 'Kind', kind: 'minor', cell: ({ latest }) => labelOf(latest.kind) },
  { label: 'Time', cell: ({ latest }) => renderTime(String(latest.created_at)) },
  { label: 'Related', cell: renderThread },
  {
    label: 'Archive',
    cell: ({ count, latest, ...thread }) =>
      count === 1 ? renderMarks(latest) : renderThreadMarks({ ...thread, about: latest.title }),
  },
];

function renderThread({ id, count, unread }: ShownThread): Html | null {
  if (count === 1) return null;
  const news = unread > 0 ? `, ${unread} unread` : '';
  return html`<a href="${pagePath(pages.notificationThread, { id })}">${count} notifications${news}</a>`;
}

const archivedColumns: Column<ShownNotification>[] = [
  { label: 'Notification', kind: 'main', cell: renderTitle },
  { label: 'Kind', kind: 'minor', cell: ({ kind }) => labelOf(kind) },
  { label: 'Time', cell: ({ created_at: at }) => renderTime(String(at)) },
  {
    label: 'Related',
    kind: 'minor',
    cell: ({ subject: { id } }) => html`<a href="${pagePath(pages.notificationThread, { id })}">Thread</a>`,
  },
];
