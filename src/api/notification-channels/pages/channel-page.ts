import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderHidden } from '#api/web/components/hidden-rows.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderNextAttempt, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { type MessageStatus, messageStatuses } from '#domain/messages/model.ts';
import { noMailServer } from '#domain/messages/sending-failure.ts';
import { labelOf } from '#domain/news/model.ts';
import { subjectPath } from '#domain/news/subjects.ts';
import { channelDisabledReasons } from '#domain/notification-channels/model.ts';
import { maxCounted } from '#domain/notification-channels/store.ts';
import { listMessages } from '../message-operations.ts';
import {
  type ChannelVisit,
  channelsCrumb,
  describeEvents,
  describePlace,
  describeTarget,
  kindWords,
  readShown,
  renderHealth,
  type ShownChannel,
  type ShownMessage,
} from './labels.ts';

/** The messages of a channel with their results, one page at a time. */
async function renderMessages(visit: ChannelVisit): Promise<Html> {
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
    cell: ({ kind, subject, recipient }) =>
      html`${labelOf(kind)}${subject && html`: ${renderSubject(subject)}`}${recipient !== null && html` <span class="foreign muted">to ${recipient}</span>`}`,
  },
  { label: 'Status', cell: ({ status }) => renderStatusBadge(messageLooks[status]) },
  { label: 'Attempts', kind: 'number', cell: ({ attempts }) => String(attempts) },
  { label: 'Problem', cell: ({ problem }) => problem && html`<span class="foreign muted">${problem}</span>` },
  {
    label: 'Next attempt',
    kind: 'minor',
    cell: ({ next_attempt_at: at, paused }) => at && renderNextAttempt(String(at), paused),
  },
  { label: 'Since', cell: ({ created_at: at }) => renderTime(String(at)) },
];

function renderSubject({ kind, id, title }: NonNullable<ShownMessage['subject']>): Html {
  return html`<a class="foreign" href="${subjectPath(kind, id)}">${title}</a>`;
}

function renderNone(status: MessageStatus | undefined): Html {
  if (status !== undefined) return renderEmpty('No matching messages', 'No message of this channel has this status.');
  return renderEmpty('No messages yet', 'Messages appear when an event matches a subscription. Tests are not listed.');
}

/** Shows a channel: its destination, its health, and its subscriptions. */
export async function showChannel(visit: ChannelVisit): Promise<FastifyReply> {
  const channel = await readShown(visit);
  const names = await readOwnerNames(visit, [channel]);
  const { id, name, waiting, last_sent_at: last } = channel;
  return visit.show({
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [channelsCrumb],
  beside: renderHealth(channel),
  below: html`Owned by ${renderOwner(channel, names)}`,
  actions: renderButtons(channel),
  history: ['notification_channels', id],
})}
${renderConfirmation(visit, pages.notificationChannel)}
${channel.disabled_reason && html`<p class="notice notice-problem">${channelDisabledReasons[channel.disabled_reason]} Check where it sends to before you enable it: its creator may receive the messages.</p>`}
${channel.problem && html`<p class="notice notice-problem foreign">Messages do not arrive: ${toSentence(channel.problem)}${channel.problem === noMailServer ? null : ' Each message is retried for two days, unless its recipient was refused.'}</p>`}
<div class="panel">${renderFacts([
      ['Kind', kindWords[channel.kind]],
      ['Sends to', html`<span class="foreign">${describeTarget(channel)}</span>`],
      ['Waiting', waiting >= maxCounted ? `${maxCounted} or more` : String(waiting)],
      ['Last sent', last && renderTime(String(last))],
      ['Old secret', channel.overlap_until && html`also valid until ${renderTime(String(channel.overlap_until))}`],
      ['Created', renderTime(String(channel.created_at))],
      ['Id', html`<code>${id}</code>`],
    ])}</div>
<h2>Subscriptions</h2>
${renderSubscriptions(channel)}
<h2>Messages</h2>
${await renderMessages(visit)}
</div>`,
  });
}

function renderButtons({ id, kind, actions }: ShownChannel): Html {
  return renderActions(actions, {
    test: {
      label: 'Send a test',
      icon: 'rocket',
      tone: 'primary',
      path: pagePath(pages.testNotificationChannel, { id }),
    },
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editNotificationChannel, { id }) },
    ...(kind === 'webhook' && {
      rotate: {
        label: 'Rotate the secret',
        icon: 'key-round',
        path: pagePath(pages.rotateNotificationChannel, { id }),
      },
    }),
    delete: {
      label: 'Delete',
      icon: 'trash-2',
      tone: 'danger',
      path: pagePath(pages.deleteNotificationChannel, { id }),
    },
  });
}

type Numbered = ShownChannel['subscriptions'][number] & { readonly index: number };

function renderSubscriptions({ id, actions, subscriptions, hidden_subscriptions: hidden }: ShownChannel): Html {
  const may = actions.find(({ name }) => name === 'update')?.allowed ?? false;
  const rows = subscriptions.map((each, index) => ({ ...each, index }));
  const add = html`<a class="button" href="${pagePath(pages.subscribeNotificationChannel, { id })}">Add a subscription</a>`;
  return html`<div class="list-panel">${
    rows.length > 0
      ? renderTable({ caption: 'Subscriptions', rows, columns: columnsOf(id, may, subscriptions) })
      : renderEmpty(
          hidden > 0 ? 'No subscriptions that you can see' : 'No subscriptions',
          'Subscribe it to everything that its owner owns, to a team or to an environment.',
        )
  }</div>${renderHidden(hidden, 'subscription', 'subscriptions')}${may ? html`<div class="actions">${add}</div>` : null}`;
}

function columnsOf(id: string, may: boolean, all: ShownChannel['subscriptions']): Column<Numbered>[] {
  const columns: Column<Numbered>[] = [
    {
      label: 'About',
      kind: 'main',
      cell: ({ name, team_id: team }) =>
        name === null
          ? 'Everything its owner owns'
          : html`${team === null ? 'Environment' : 'Team'} <span class="foreign">${name}</span>`,
    },
    {
      label: 'Events',
      cell: (each) => html`<span class="foreign">${describeEvents(each)}</span>${renderCovering(each, all)}`,
    },
  ];
  if (!may) return columns;
  const remove: Column<Numbered> = {
    label: 'Actions',
    cell: ({ index }) =>
      html`<a href="${pagePath(pages.unsubscribeNotificationChannel, { id, index: String(index) })}">Remove</a>`,
  };
  return [...columns, remove];
}

/** Says that a subscription has no effect, and which wider one covers it. */
function renderCovering({ covered_by: index }: Numbered, all: ShownChannel['subscriptions']): Html | null {
  const wider = index === null ? undefined : all[index];
  return wider
    ? html` <span class="foreign muted">Changes nothing: the subscription to ${describePlace(wider)} brings the same events.</span>`
    : null;
}
