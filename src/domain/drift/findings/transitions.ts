import type { FindingReason, FindingState, FindingStatus, Suppression } from './model.ts';

/** A deviation as a complete scan saw it. */
export interface Observation {
  /** Digest of the observed value. */
  readonly observed: string;
  readonly at: Date;
}

/** A scan saw the deviation. Null: for the first time. The same deviation is the same finding, however often it goes and comes back. */
export function see(finding: FindingState | null, { observed, at }: Observation): FindingState {
  if (finding === null) {
    return open({ firstSeenAt: at, lastSeenAt: at, count: 1, observed, suppression: null }, 'observed');
  }
  const seen = { ...finding, lastSeenAt: at, count: finding.count + 1, observed };
  const { suppression } = finding;
  if (suppression === null) return finding.status === 'open' ? seen : open(seen, 'observed');
  if (suppression.until <= at) return open(seen, 'suppression_ended');
  if (suppression.observed !== observed) return open(seen, 'other_value');
  return moveTo(seen, 'suppressed', 'suppressed');
}

/**
 * A complete scan did not see the deviation, or an ignore rule leaves it out now. A suppression stays until its time is over, so the accepted
 * value may go and come back.
 */
export function miss(finding: FindingState, reason: 'gone' | 'ignored' | 'destroyed' = 'gone'): FindingState {
  return finding.status === 'resolved' ? finding : moveTo(finding, 'resolved', reason);
}

/** Somebody accepts the value that was observed last. */
export function suppress(finding: FindingState, suppression: Omit<Suppression, 'observed'>): FindingState {
  const { observed } = finding;
  return moveTo({ ...finding, suppression: { ...suppression, observed } }, 'suppressed', 'suppressed');
}

/** Somebody ends a suppression before its time. */
export function reopen(finding: FindingState): FindingState {
  return open(finding, 'reopened');
}

/** The time of a suppression is over. Only a suppressed finding opens: a resolved one stays resolved. */
export function expire(finding: FindingState, now: Date): FindingState {
  const { status, suppression } = finding;
  if (suppression === null || suppression.until > now) return finding;
  return status === 'suppressed' ? open(finding, 'suppression_ended') : { ...finding, suppression: null };
}

function open(finding: Omit<FindingState, 'status' | 'reason'>, reason: FindingReason): FindingState {
  return { ...finding, status: 'open', reason, suppression: null };
}

function moveTo(finding: FindingState, status: FindingStatus, reason: FindingReason): FindingState {
  return { ...finding, status, reason };
}
