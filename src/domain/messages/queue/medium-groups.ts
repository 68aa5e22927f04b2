import type { Medium } from '../model.ts';

/** Destinations at which the last message did not arrive have few places of their own, so that those which accept messages never wait for them. */
export const messageLanes = ['healthy', 'failing'] as const;
export type MessageLane = (typeof messageLanes)[number];

/** Media whose messages share their places. */
export interface MediumGroup {
  readonly media: readonly Medium[];
  /** How many messages of an organization with its channels, or of a user, all workers together send at a time. The remaining places are for others. */
  readonly maxOfOneOwner: Readonly<Record<MessageLane, number>>;
}

/** Chats and webhooks of others that hang never keep mails waiting. */
export const mediumGroups = {
  mails: { media: ['email'], maxOfOneOwner: { healthy: 8, failing: 2 } },
  posts: { media: ['chat', 'webhook'], maxOfOneOwner: { healthy: 32, failing: 4 } },
} as const satisfies Record<string, MediumGroup>;
