/** How channels name and choose what they hear. Pure. */

/** The type of the message by which somebody tests a channel. */
export const channelTest = 'notification_channel.test';

/** The type of a message of a channel. A notification is not the event of the same name: webhooks hear that. */
export function channelMessageType(kind: string): string {
  return kind === channelTest ? channelTest : `notification.${kind}`;
}

/** A pattern: `*`, an area such as `run.*`, or a topic. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}
