/** How a channel passes on what happens, and what it may subscribe to. Pure. */

export const channelKinds = ['email', 'webhook', 'slack'] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** Why the service itself has disabled a channel. */
export const channelDisabledReasons = {
  transferred: 'Its project or team got another owner, who has not enabled it.',
} as const;
export type ChannelDisabledReason = keyof typeof channelDisabledReasons;

export const maxRecipients = 20;
export const maxSubscriptions = 50;
export const maxPatterns = 20;

/** What a channel hears of: everything below its owner, or only a team or an environment, as far as the patterns match. */
export interface Subscription {
  readonly teamId: string | null;
  readonly environmentId: string | null;
  readonly events: readonly string[];
}
