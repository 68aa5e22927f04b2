import type { Medium } from '../model.ts';

/** The lanes of messages. Failing destinations have a few places of their own, so that healthy ones never wait for them. */
export const messageLanes = ['healthy', 'failing'] as const;
export type MessageLane = (typeof messageLanes)[number];

/** A group of media whose messages share the same places. */
export interface MediumGroup {
  readonly media: readonly Medium[];
  /** How many messages of an organization with its channels, or of a user, all workers together send at a time. The remaining places are for others. */
  readonly maxOfOneOwner: Readonly<Record<MessageLane, number>>;
}

/** Mails have a group of their own, so that hanging chats and webhooks never delay them. */
export const mediumGroups = {
  mails: { media: ['email'], maxOfOneOwner: { healthy: 8, failing: 2 } },
  posts: { media: ['chat', 'webhook'], maxOfOneOwner: { healthy: 32, failing: 4 } },
} as const satisfies Record<string, MediumGroup>;
