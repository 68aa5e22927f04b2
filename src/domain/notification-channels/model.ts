import { type NotificationKind, notificationKinds } from '#domain/notifications/model.ts';

/** How a channel passes on what happens, of what it tells, and what it may subscribe to. Pure. */

export const channelKinds = ['email', 'webhook', 'slack'] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** What only single people are told: their keys, and that somebody asked them in person. */
const personalKinds = ['run.approval_requested', 'api_key.expiring'] as const satisfies readonly NotificationKind[];
type PersonalKind = (typeof personalKinds)[number];

/** What channels alone are told. Of people, those are told whom somebody asks. */
const ownTopics = { 'run.approval_required': 'A run waits for approval.' } as const;

/** Everything of which a channel can tell. Clients match the names: they never change. */
export type Topic = Exclude<NotificationKind, PersonalKind> | keyof typeof ownTopics;

export const topics = {
  ...ownTopics,
  ...Object.fromEntries(
    Object.entries(notificationKinds).filter(([kind]) => !(personalKinds as readonly string[]).includes(kind)),
  ),
} as Readonly<Record<Topic, string>>;
export const topicNames = Object.keys(topics) as [Topic, ...Topic[]];

export function isTopic(kind: string): kind is Topic {
  return Object.hasOwn(topics, kind);
}

/** A pattern: `*`, an area such as `run.*`, or a topic. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}

export const mostRecipients = 20;
export const mostSubscriptions = 50;
export const mostPatterns = 20;

/** After a rotation, requests carry signatures by both secrets for so long. */
export const overlapMs = 24 * 60 * 60_000;

/** What a channel hears of: everything below its owner, or only a team or an environment, as far as the patterns match. */
export interface Subscription {
  readonly teamId: string | null;
  readonly environmentId: string | null;
  readonly events: readonly string[];
}
