/** The states of a finding; the list is complete. */
export const findingStatuses = ['open', 'suppressed', 'resolved'] as const;
export type FindingStatus = (typeof findingStatuses)[number];

/** Why a finding is in its state. `ignored`: an ignore rule now leaves it out. `destroyed`: the instance was destroyed. */
export const findingReasons = [
  'observed',
  'other_value',
  'suppression_ended',
  'reopened',
  'suppressed',
  'gone',
  'ignored',
  'destroyed',
] as const;
export type FindingReason = (typeof findingReasons)[number];

/** The acceptance of an observed value for a time. Another value, or the end of that time, opens the finding again. */
export interface Suppression {
  /** The digest of the accepted value. */
  readonly observed: string;
  readonly reason: string;
  readonly until: Date;
}

/** One deviation over all scans that saw it. */
export interface FindingState {
  readonly status: FindingStatus;
  readonly reason: FindingReason;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  /** How many scans saw it. */
  readonly count: number;
  /** Digest of the value that was observed last. */
  readonly observed: string;
  readonly suppression: Suppression | null;
}
