import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { ChannelSubscriptionSchema, NotificationChannelSchema } from './entity.ts';
import { notificationChannelKinds } from './ownership.ts';
import { notificationChannelSeals } from './sealed.ts';

export const entities = [NotificationChannelSchema, ChannelSubscriptionSchema] as const;
export const ownership = notificationChannelKinds;

export const systemActions = {
  'notification_channel.disabled': {
    summary: 'Disable a notification channel whose project or team got another owner',
    resourceType: 'notification_channels',
    actor: 'transfer',
  },
} as const satisfies Record<string, DeclaredAction>;
export const sealed = notificationChannelSeals;

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
