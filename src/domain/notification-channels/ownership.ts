import { ownerLinks } from '#domain/owners/links.ts';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const endsWith = { cascade: { rows: 'deleted' } } as const;

export const notificationChannelKinds = [
  {
    kind: 'notification_channel',
    table: 'notification_channels',
    label: 'name',
    revision: true,
    disabledByTransfer: 'notification_channel.disabled',
    owners: [...ownerLinks(endsWith)],
  },
  {
    kind: 'channel_subscription',
    table: 'channel_subscriptions',
    owners: [{ kind: 'notification_channel', columns: ['channelId'], ...endsWith }],
    references: [
      { kind: 'team', columns: ['teamId'], ...endsWith },
      { kind: 'environment', columns: ['environmentId'], ...endsWith },
    ],
  },
] as const satisfies readonly Declaration[];
