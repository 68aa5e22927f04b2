import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import type { Html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isTopic, labelOf } from '#domain/news/model.ts';
import type { ChannelKind } from '#domain/notification-channels/model.ts';
import { get } from '../operations.ts';
import type { ChannelMessageView, ChannelView, ListedChannelView } from '../views.ts';

export type ListedChannel = z.input<typeof ListedChannelView>;
export type ShownChannel = z.input<typeof ChannelView>;
export type ShownMessage = z.input<typeof ChannelMessageView>;
export type ChannelVisit = Visit<{ id: string }>;

export function readShown(visit: ChannelVisit): Promise<ShownChannel> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function channelPath(
  { id }: { readonly id: string },
  done?: ConfirmationOf<typeof pages.notificationChannel>,
): LocalPath {
  return pagePath(pages.notificationChannel, { id }, { done });
}

export const channelsCrumb: Crumb = { label: 'Notification channels', path: pagePath(pages.notificationChannels) };

export function channelCrumbs(channel: Pick<ShownChannel, 'id' | 'name'>): Crumb[] {
  return [channelsCrumb, { label: channel.name, path: channelPath(channel) }];
}

export const kindWords: Readonly<Record<ChannelKind, string>> = {
  email: 'E-mail',
  webhook: 'Signed webhook',
  slack: 'Chat (Slack)',
};

type Subscription = ShownChannel['subscriptions'][number];

/** The events of a subscription, in the list of subscriptions. */
export function describeEvents({ events }: Pick<Subscription, 'events'>): string {
  if (events.includes('*')) return 'All events';
  return events.map((pattern) => (isTopic(pattern) ? labelOf(pattern) : pattern)).join(', ');
}

/** The scope of a subscription, in a sentence. */
export function describePlace({ name, team_id: team }: Pick<Subscription, 'name' | 'team_id'>): string {
  if (name === null) return 'everything that its owner owns';
  return `the ${team === null ? 'environment' : 'team'} ${name}`;
}

/** Shows whether messages arrive. */
export function renderHealth(channel: ListedChannel): Html {
  return renderStatusBadge(lookOf(channel));
}

function lookOf({
  enabled,
  disabled_reason: reason,
  problem,
  subscriptions,
  hidden_subscriptions: hidden,
}: ListedChannel): StatusLook {
  if (reason !== null) return { word: 'Disabled by the service', icon: 'octagon-x', tone: 'failed' };
  if (!enabled) return { word: 'Disabled', icon: 'ban', tone: 'canceled' };
  if (problem !== null) return { word: 'Failing', icon: 'triangle-alert', tone: 'approval' };
  if (subscriptions.length + hidden === 0) return { word: 'No subscriptions', icon: 'circle-dashed', tone: 'queued' };
  return { word: 'Enabled', icon: 'circle-check', tone: 'succeeded' };
}

/** The destination of a channel: its addresses, or the host of an address that is sealed. */
export function describeTarget({ config: { recipients, host } }: Pick<ListedChannel, 'config'>): string {
  return recipients?.join(', ') ?? host ?? '';
}

/** Declares a form about notification channels. */
export const channelForm = formsAbout({ read: readShown, crumbs: channelCrumbs, path: channelPath });
