import { pauseOf } from '#domain/shared/sending/pauses.ts';

/** Which events a webhook gets, when a delivery is tried again, and when the service disables a webhook. Pure. */

/** The pattern of every event. */
export const everyEvent = '*';

/** The type of the messages that contain records of the audit. Nothing publishes it as an event: each record is a message of its own. */
export const auditStream = 'audit.recorded';

/** The patterns that subscribe a webhook to the audit. `*` is not one of them, because records name people, addresses and values. */
export const auditPatterns: readonly string[] = [auditStream, 'audit.*'];

/** Whether a webhook with these patterns subscribes to the audit. */
export function subscribesToAudit(patterns: readonly string[]): boolean {
  return patterns.some((pattern) => auditPatterns.includes(pattern));
}

/** The last audit record for which deliveries were created, in the order of times and ids. */
export interface AuditPosition {
  readonly at: string;
  readonly id: string;
}

/** How many patterns a webhook may have. */
export const maxPatterns = 100;

/**
 * `withheld`: it was not sent, because the subject had another owner when it was due, the audit record was removed, or the webhook no
 * longer subscribes to events of this type.
 */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'withheld'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The statuses that readers see. `retrying`: the delivery is pending, and a try has failed. */
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

/** The reasons for which the service itself disables a webhook. */
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

/** The pauses between the tries of a delivery, three days in total. */
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

/** A webhook is disabled after every delivery has failed for this long. */
export const failingLimitMs = 72 * hour;

/** How many of the last tries of a delivery are kept. */
export const keptTries = 10;

/** The result of one try of a delivery. */
export interface Try {
  readonly at: string;
  /** Null: there was no complete answer. */
  readonly status: number | null;
  readonly ms: number;
  /** Why it failed; null: it succeeded. */
  readonly problem: string | null;
}

/** How much of the body of a message readers see. */
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

/** The pause after a failed try of a delivery (`pauseOf`); null after the last one. */
export function pauseAfter(attempts: number, random?: number): number | null {
  return pauseOf(retryPausesMs, attempts, random);
}
