import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderNextTime, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { type MessageStatus, messageStatuses } from '#domain/messages/model.ts';
import { labelOf } from '#domain/news/model.ts';
import { listMessages } from '../use-operations.ts';
import type { ChannelVisit, ShownMessage } from './words.ts';

/** The messages of a channel with what became of them, a page at a time. */
export async function renderMessages(visit: ChannelVisit): Promise<Html> {
  const { id } = visit.params;
  const status = messageStatuses.find((each) => each === visit.query('status'));
  const cursor = visit.query('cursor');
  const query = { status, cursor };
  const { messages, next_cursor: next } = await visit.read(listMessages, { params: { id }, query });
  const link = (more: object) => pagePath(pages.notificationChannel, { id }, { status, ...more });
  const chips = withAll(messageStatuses, (each) => messageLooks[each].word);
  return html`${renderChips('Filter by status', chips, status, (each) => link({ status: each }))}
<div class="list-panel">${messages.length > 0 ? renderTable({ caption: 'Messages, newest first', rows: messages, columns }) : renderNone(status)}</div>
${renderPages({ cursor, next }, link)}`;
}

const messageLooks: Readonly<Record<MessageStatus, StatusLook>> = {
  pending: { word: 'Waiting', icon: 'circle-dashed', tone: 'queued' },
  sent: { word: 'Sent', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  withheld: { word: 'Withheld', icon: 'ban', tone: 'canceled' },
};

const columns: Column<ShownMessage>[] = [
  {
    label: 'About',
    kind: 'main',
    cell: ({ kind, recipient }) =>
      html`${labelOf(kind)}${recipient !== null && html` <span class="foreign muted">to ${recipient}</span>`}`,
  },
  { label: 'Status', cell: ({ status }) => renderStatusBadge(messageLooks[status]) },
  { label: 'Attempts', kind: 'number', cell: ({ attempts }) => String(attempts) },
  { label: 'Problem', cell: ({ problem }) => problem && html`<span class="foreign muted">${problem}</span>` },
  { label: 'Next attempt', kind: 'minor', cell: ({ next_attempt_at: at }) => at && renderNextTime(String(at)) },
  { label: 'Since', cell: ({ created_at: at }) => renderTime(String(at)) },
];

function renderNone(status: MessageStatus | undefined): Html {
  if (status !== undefined) return renderEmpty('No matching messages', 'No message of this channel has this status.');
  return renderEmpty('No messages yet', 'Messages appear when an event matches a subscription. Tests are not listed.');
}
