import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderNextAttempt, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { maxNewer, renderNewer, timeBehind } from '#api/web/live/newer.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { shownStatuses } from '#domain/webhooks/model.ts';
import { list } from '../delivery-operations.ts';
import { deliveryLooks, describeAnswer, type ShownDelivery, type WebhookVisit } from './labels.ts';

interface ShownList {
  readonly live: Html;
  /** The address for updates of the page. It selects the same deliveries, in their state at that time. */
  readonly address: LocalPath;
}

/** The deliveries of a webhook, which the page updates. Newer deliveries do not move the rows: a link above has their number. */
export async function readDeliveries(visit: WebhookVisit): Promise<ShownList> {
  const { id } = visit.params;
  const status = shownStatuses.find((each) => each === visit.query('status'));
  const cursor = visit.query('cursor');
  const before = visit.query('until');
  const query = { status, cursor, to: before };
  const { deliveries, next_cursor: next } = await visit.read(list, { params: { id }, query });
  const until = before ?? (cursor === undefined ? timeBehind(deliveries[0]) : undefined);
  const link = (more: object) => pagePath(pages.webhook, { id }, { status, ...more });
  const newer = await countNewer(visit, before, status);
  const chips = withAll(shownStatuses, (each) => deliveryLooks[each].word);
  const live = html`${renderChips('Filter by status', chips, status, (each) => link({ status: each }))}
${renderNewer(newer, link({}))}
<div class="list-panel">${deliveries.length > 0 ? renderTable({ caption: 'Deliveries, newest first', rows: deliveries, columns }) : renderNone(status)}</div>
${renderPages({ cursor, next }, link)}`;
  return { live, address: link({ cursor, until }) };
}

async function countNewer(
  visit: WebhookVisit,
  from: string | undefined,
  status: ShownDelivery['status'] | undefined,
): Promise<number> {
  if (from === undefined) return 0;
  const query = { status, from, limit: String(maxNewer) };
  const { deliveries } = await visit.read(list, { params: { id: visit.params.id }, query });
  return deliveries.length;
}

const columns: Column<ShownDelivery>[] = [
  {
    label: 'Event',
    kind: 'main',
    cell: ({ id: deliveryID, webhook_id: id, event }) =>
      html`<a class="foreign" href="${pagePath(pages.webhookDelivery, { id, deliveryID })}">${event.type}</a>`,
  },
  { label: 'Status', cell: ({ status }) => renderStatusBadge(deliveryLooks[status]) },
  { label: 'Attempts', kind: 'number', cell: ({ attempts }) => String(attempts) },
  { label: 'Response', cell: ({ answer }) => html`<span class="muted">${describeAnswer(answer)}</span>` },
  { label: 'Next attempt', cell: ({ next_attempt_at: at, paused }) => at && renderNextAttempt(String(at), paused) },
  { label: 'Since', cell: ({ created_at: at }) => renderTime(String(at)) },
];

function renderNone(status: ShownDelivery['status'] | undefined): Html {
  if (status !== undefined)
    return renderEmpty('No matching deliveries', 'No delivery of this webhook has this status.');
  return renderEmpty('No deliveries yet', 'Deliveries appear when an event matches the webhook. Tests are not listed.');
}
