import type { FastifyReply } from 'fastify';
import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { list } from '../operations.ts';
import { channelPath, describeTarget, kindWords, type ListedChannel, renderHealth } from './labels.ts';
import { channelOwners } from './owners.ts';

/** The notification channels that the visitor may read, in the scope of the address. */
export async function showChannels(visit: Visit): Promise<FastifyReply> {
  const filter = { ...scopeQuery(visit.scope), project_id: visit.query('project_id') };
  const cursor = visit.query('cursor');
  const { notification_channels: channels, next_cursor: next } = await visit.read(list, {
    query: { ...filter, cursor },
  });
  const [names, mayCreate] = await Promise.all([readOwnerNames(visit, channels), channelOwners.mayCreate(visit)]);
  return showList(visit, {
    title: 'Notification channels',
    below: 'Tell groups of people what happens: by e-mail, in a chat, or by a signed message.',
    page: pages.notificationChannels,
    kept: filter,
    create: [mayCreate, 'New channel', pagePath(pages.newNotificationChannel, {}, filter)],
    rows: channels,
    columns: columnsOf(names),
    next,
    empty: [
      'No notification channels yet',
      'A channel belongs to an organization, a team or a project, and reports runs, drift and expirations there.',
    ],
  });
}

function columnsOf(names: Names): Column<ListedChannel>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (channel) => html`<a class="foreign" href="${channelPath(channel)}">${channel.name}</a>`,
    },
    { label: 'State', cell: renderHealth },
    { label: 'Kind', cell: ({ kind }) => kindWords[kind] },
    { label: 'Sends to', cell: (channel) => html`<span class="foreign">${describeTarget(channel)}</span>` },
    { label: 'Owner', cell: (channel) => renderOwner(channel, names) },
    { label: 'Last sent', kind: 'minor', cell: ({ last_sent_at: at }) => at && renderTime(String(at)) },
  ];
}
