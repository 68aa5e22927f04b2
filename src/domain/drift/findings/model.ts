/** The closed list of the states of a finding. */
export const findingStatuses = ['open', 'suppressed', 'resolved'] as const;
export type FindingStatus = (typeof findingStatuses)[number];

/** Why a finding is in its state. `ignored`: a rule leaves it out now. `destroyed`: the instance was destroyed. */
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

/** Somebody accepts an observed value for a while. Another value, or the end of the time, opens the finding again. */
export interface Suppression {
  /** Digest of the observed value that it holds for. */
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
