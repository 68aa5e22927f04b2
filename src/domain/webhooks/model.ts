/** Which events a webhook hears, when a delivery is tried again, and when a webhook is given up. Pure. */

/** The pattern of every event. */
export const everyEvent = '*';

/** The type of the messages that bring the records of the audit. Nothing publishes it as an event: each record is a message of its own. */
export const auditStream = 'audit.recorded';

/** The patterns by which a webhook hears the audit. `*` is not one of them: records name people, addresses and values. */
export const auditPatterns: readonly string[] = [auditStream, 'audit.*'];

/** Whether a webhook with these patterns hears the audit. */
export function hearsAudit(patterns: readonly string[]): boolean {
  return patterns.some((pattern) => auditPatterns.includes(pattern));
}

/** Up to where the audit has been given to webhooks, in the order of its times and ids. */
export interface AuditPosition {
  readonly at: string;
  readonly id: string;
}

/** How many patterns a webhook may have. */
export const maxPatterns = 100;

/** `withheld`: it was not sent, because the subject had another owner when it was due, the audit record was removed, or the webhook no longer hears events of this type. */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'withheld'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** As readers see it. `retrying`: it is pending, but a try has failed. */
export const shownStatuses = ['pending', 'retrying', 'delivered', 'failed', 'withheld'] as const;
export type ShownStatus = (typeof shownStatuses)[number];

export function shownStatusOf({
  status,
  attempts,
}: {
  readonly status: DeliveryStatus;
  readonly attempts: number;
}): ShownStatus {
  return status === 'pending' && attempts > 0 ? 'retrying' : status;
}

/** Why the service itself has disabled a webhook. */
export const disabledReasons = {
  gone: 'The endpoint answered 410: it wants no more events.',
  failing: 'Nothing could be delivered for three days.',
  transferred: 'Its project or team got another owner, who has not enabled it.',
  behind: 'More messages wait for the endpoint than the service keeps.',
} as const;
export type DisabledReason = keyof typeof disabledReasons;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pauses between the tries of a delivery: three days in all. */
export const retryPausesMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  18 * hour,
  22 * hour,
] as const;

/** A webhook to which nothing could be delivered for so long is disabled. */
export const failingLimitMs = 72 * hour;

/** How many of the last tries of a delivery are kept. */
export const keptTries = 10;

/** What one try of a delivery came to. */
export interface Try {
  readonly at: string;
  /** Null: there was no whole answer. */
  readonly status: number | null;
  readonly ms: number;
  /** Why it failed; null: it succeeded. */
  readonly problem: string | null;
}

/** So much of the body of a message is shown. */
export const shownBodyCharacters = 16_384;

/** How much of an answer is kept. */
export const keptAnswerBytes = 1024;

export const sendTimeoutMs = 15 * second;

/** Whether a pattern (`*`, `run.*` or an exact name) matches a type of event. The fan-out does the same in SQL. */
export function matchesEvent(pattern: string, type: string): boolean {
  if (type === auditStream) return auditPatterns.includes(pattern);
  if (pattern === everyEvent) return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** The pause after a failed try, spread by a tenth so that deliveries do not come back at once; null after the last one. */
export function pauseAfter(attempts: number, random = Math.random()): number | null {
  const pause = retryPausesMs[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (1 + random / 10));
}
