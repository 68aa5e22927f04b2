/** What a monitor is set for. Those of an environment or a template scan nothing themselves: their instances inherit monitors from them. */
export const monitorScopes = ['instance', 'environment', 'template'] as const;
export type MonitorScope = (typeof monitorScopes)[number];

/** Who asked for a scan: the schedule of the monitor, or somebody at once. */
export const scanTriggers = ['schedule', 'request'] as const;
export type ScanTrigger = (typeof scanTriggers)[number];

/** Why the last scan told nothing: it failed, or could not begin. Later successes clear it. */
export interface ScanFailure {
  readonly at: string;
  /** The reason of the run, or the code of what refused the scan. */
  readonly code: string;
  readonly message: string;
  /** Null: no run was admitted. */
  readonly runId: string | null;
}

/** The longest time for which somebody may accept a deviation, in days. */
export const longestSuppressionDays = 366;
/** How many findings one request may suppress. */
export const mostSuppressed = 200;
export const mostIgnoreRules = 100;

/** `revert` restores what the service last deployed. `adopt` records the real values in the state, and changes nothing real. */
export const remediationDirections = ['revert', 'adopt'] as const;
export type RemediationDirection = (typeof remediationDirections)[number];
