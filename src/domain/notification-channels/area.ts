import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { ChannelSubscriptionSchema, NotificationChannelSchema } from './entity.ts';
import { notificationChannelKinds } from './ownership.ts';
import { channelSecrets, urlContext } from './secrets.ts';

export const entities = [NotificationChannelSchema, ChannelSubscriptionSchema] as const;
export const ownership = notificationChannelKinds;

export const systemActions = {
  'notification_channel.disabled': {
    summary: 'Disable a notification channel whose project or team got another owner',
    resourceType: 'notification_channels',
    actor: 'transfer',
  },
} as const satisfies Record<string, DeclaredAction>;

const table = 'notification_channels';
const key = ['id'] as const;

/** The addresses of channels, and the secrets by which they sign. */
export const sealed = [
  sealedColumn({ table, column: 'sealedUrl', key, context: ({ id }) => urlContext(id) }),
  sealedColumn({ table, column: 'sealedSecret', key, context: ({ id }) => channelSecrets.contextOf(id) }),
  sealedColumn({ table, column: 'sealedPreviousSecret', key, context: ({ id }) => channelSecrets.contextOf(id) }),
];

export const errorCodes = {
  no_signature: 'Only messages of webhook channels are signed, so other channels have no secret.',
} as const;
export const searched = {
  notification_channel: ownedCandidates({
    table: 'notification_channels',
    installation: 'administrators',
    anyOf: ['notification_channel:manage'],
  }),
};
