/** The names of topics, and the patterns by which channels choose them. Pure. */

/** The type of the message by which somebody tests a channel. */
export const channelTest = 'notification_channel.test';

/** The type of a message of a channel. It differs from the type of the event with the same name, which webhooks receive. */
export function channelMessageType(kind: string): string {
  return kind === channelTest ? channelTest : `notification.${kind}`;
}

/** A pattern: `*`, an area such as `run.*`, or a topic. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}
