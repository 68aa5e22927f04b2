/**
 * What a process says about its commits, so that others read the database when there is something to read. A topic has no content, and may
 * be lost with a connection: whoever waits for one also looks at the database from time to time.
 */
export interface SignalSource {
  /** Tells this process at once and all others soon afterwards. Never waits, and never fails. */
  signal(topics: Iterable<string>): void;
  /** Tells this process only. */
  signalHere(topics: Iterable<string>): void;
  /**
   * Calls the listener for each of the topics, and when signals may have been lost. Returns what ends that. The listener must neither wait
   * nor throw.
   */
  on(topics: readonly string[], listener: () => void): () => void;
}

/** Some event was committed. */
export const anyEvent = 'events';

/** An event of a type was committed. */
export function eventTopic(type: string): string {
  return `event/${type}`;
}

/** An event of a subject was committed. Ids of two kinds of subjects never agree. */
export function subjectTopic(subjectId: string): string {
  return `subject/${subjectId}`;
}

/** A row for a subscriber was added to the outbox. */
export function outboxTopic(subscriber: string): string {
  return `outbox/${subscriber}`;
}

/** Something may be due that no event tells of. */
export const dueTopic = 'due';

/** Deliveries of webhooks, or messages to users and channels, wait to be sent. */
export const sendingTopics = { webhooks: 'sending/webhooks', messages: 'sending/messages' } as const;

/** Events, or records of the audit, wait for the webhooks that hear them. */
export const webhookTopics = { events: 'webhooks/events', audit: 'webhooks/audit' } as const;
