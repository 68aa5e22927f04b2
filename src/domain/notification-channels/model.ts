import type { Medium } from '#domain/messages/model.ts';

/** The kinds of channels, and their subscriptions. Pure. */

export const channelKinds = ['email', 'webhook', 'slack'] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** The destination of a channel: a kind with recipients sends to each of them, a kind with an address only there. */
export interface ChannelConfig {
  readonly recipients?: readonly string[] | undefined;
  readonly url?: string | undefined;
}

/** By which medium a channel of each kind sends, and the field of its configuration that says where. */
export const channelSending = {
  email: { medium: 'email', destination: 'recipients' },
  webhook: { medium: 'webhook', destination: 'url' },
  slack: { medium: 'chat', destination: 'url' },
} as const satisfies Record<ChannelKind, { medium: Medium; destination: keyof ChannelConfig }>;

/** Why the service itself has disabled a channel. */
export const channelDisabledReasons = {
  transferred: 'Its project or team got another owner, who has not enabled it.',
} as const;
export type ChannelDisabledReason = keyof typeof channelDisabledReasons;

export const maxRecipients = 20;
export const maxSubscriptions = 50;
export const maxPatterns = 20;

/**
 * A subscription of a channel: the topics that match the patterns, about everything below its owner, or only about a team or an
 * environment.
 */
export interface Subscription {
  readonly teamId: string | null;
  readonly environmentId: string | null;
  readonly events: readonly string[];
}
