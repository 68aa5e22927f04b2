import type { NotificationKind } from './model.ts';

/** Of what channels tell. Pure. */

/** What only single people are told: their keys, and that somebody asked them in person. */
type PersonalKind = Extract<NotificationKind, 'run.approval_requested' | 'api_key.expiring'>;

/** Everything of which a channel can tell. Channels hear of every run that waits for approval. A person hears of it only when asked to review it. */
export type Topic = Exclude<NotificationKind, PersonalKind> | 'run.approval_required';

/** Clients match the names: they never change. */
export const topics: Readonly<Record<Topic, string>> = {
  'run.approval_required': 'A run waits for approval.',
  'run.finished': 'A run ended.',
  'drift_monitor.drifted': 'A scan found something that is not as it was deployed.',
  'drift_monitor.scan_failed': 'A scan failed.',
  'webhook.disabled': 'The service disabled a webhook.',
  'quota.exceeded': 'A quota is full.',
  'drift_finding.suppression_ending': 'A suppression ends within a day.',
  'instance.expiring': 'The service destroys an instance within a day, because its time to live ends.',
};
export const topicNames = Object.keys(topics) as [Topic, ...Topic[]];

/** The type of the message by which somebody tests a channel. */
export const channelTest = 'notification_channel.test';

/** The type of a message of a channel. A notification is not the event of the same name: webhooks hear that. */
export function channelMessageType(kind: string): string {
  return kind === channelTest ? channelTest : `notification.${kind}`;
}

export function isTopic(kind: string): kind is Topic {
  return Object.hasOwn(topics, kind);
}

/** A pattern: `*`, an area such as `run.*`, or a topic. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}
