import type { FindingReason, FindingState, FindingStatus, Suppression } from './model.ts';

/** A deviation as a complete scan saw it. */
export interface Observation {
  /** Digest of the observed value. */
  readonly observed: string;
  readonly at: Date;
}

/**
 * The state after a scan saw the deviation. `finding` is null for the first time. A deviation that disappears and returns is still the same
 * finding.
 */
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
 * The state after a complete scan did not see the deviation, or an ignore rule left it out. A suppression stays until its time is over, so
 * that the accepted value may disappear and return.
 */
export function miss(finding: FindingState, reason: 'gone' | 'ignored' | 'destroyed' = 'gone'): FindingState {
  return finding.status === 'resolved' ? finding : moveTo(finding, 'resolved', reason);
}

/** The state after somebody accepted the last observed value. */
export function suppress(finding: FindingState, suppression: Omit<Suppression, 'observed'>): FindingState {
  const { observed } = finding;
  return moveTo({ ...finding, suppression: { ...suppression, observed } }, 'suppressed', 'suppressed');
}

/** The state after somebody ended a suppression before its time. */
export function reopen(finding: FindingState): FindingState {
  return open(finding, 'reopened');
}

/** The state after the time of a suppression is over. A suppressed finding opens; a resolved one stays resolved. */
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
