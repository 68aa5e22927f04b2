/**
 * What a monitor watches. Only monitors of instances scan: the instances of an environment or a template inherit monitors from its monitor.
 */
export const monitorScopes = ['instance', 'environment', 'template'] as const;
export type MonitorScope = (typeof monitorScopes)[number];

/** Who requested a scan: the schedule of the monitor, or a person. */
export const scanTriggers = ['schedule', 'request'] as const;
export type ScanTrigger = (typeof scanTriggers)[number];

/** Why the last scan had no result: it failed, or it could not start. The next success clears it. */
export interface ScanFailure {
  readonly at: string;
  /** The reason for which the run ended, or the error code with which the scan was refused. */
  readonly code: string;
  readonly message: string;
  /** Null: no run was admitted. */
  readonly runId: string | null;
}

/** Why a scan that succeeded changes no findings. The history of scans shows this instead of the reason of the run. */
export type ScanRejection = 'overtaken' | 'too_many_deviations' | 'no_result';

/** The longest time for which somebody may accept a deviation. */
export const maxSuppressionYears = 1;
/** How many findings one request may suppress. */
export const maxSuppressed = 200;
export const maxIgnoreRules = 100;

/** `revert` restores what the service last deployed. `adopt` records the real values in the state, and changes nothing real. */
export const remediationDirections = ['revert', 'adopt'] as const;
export type RemediationDirection = (typeof remediationDirections)[number];
