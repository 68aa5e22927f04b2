import type { VersionedTool } from '#domain/tools/model.ts';

/** Checks of versions before they run: what they find, and the steps of those that a worker makes in a sandbox. Pure. */

/** What is wrong with a version, or worth knowing about it. */
export interface CheckFinding {
  /** A JSON pointer into the spec, such as `/variables/properties/size`. */
  readonly path: string;
  /** A file of the version. */
  readonly file?: string | undefined;
  /** 1 for the first. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** `not_done`: no worker has looked at the version yet, or its check could not be made. */
export const checkStates = ['passed', 'failed', 'not_done'] as const;
export type CheckState = (typeof checkStates)[number];

/** What is known about a version before it runs. */
export interface VersionCheck {
  readonly state: CheckState;
  /** When it was found out (RFC 3339). */
  readonly at: string;
  /** The tool that checked it; null for commands, and if none did. */
  readonly tool: VersionedTool | null;
  readonly errors: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
  /** What could not be checked, and why. */
  readonly notChecked: readonly string[];
}

/** What a worker found out in a sandbox. */
export type SandboxCheck = Omit<VersionCheck, 'at'>;

/** The workflow type of checks. Histories name it, so it never changes. */
export const templateCheckWorkflow = 'templateCheck';

/** The task queue of the workers of a pool that check. Only workers that contain template code poll it, and runs do not wait for it. */
export function checkQueue(pool: string): string {
  return `checks.pool.${pool}`;
}

/** What the workflow of a check does next. */
export type CheckStep =
  | { kind: 'execute'; taskQueue: string; timeoutSeconds: number; startWithinSeconds: number }
  | { kind: 'wait'; seconds: number }
  | { kind: 'end' };

/** How long a request waits for its check. */
export const requestWaitMs = 30_000;
/** A check without a version that is older belongs to no request any more: it died, or took no result. */
export const abandonedAfterSeconds = (2 * requestWaitMs) / 1000;
/** How long one tool may take for a check. */
export const checkLimitSeconds = 60;
/** The tool is asked to stop first. */
export const checkGraceSeconds = 5;
/** How many checks of one person, and of one owner of templates, are under way at once. */
export const maxUnderWay = { caller: 2, owner: 4 } as const;
/** How many requests of one person wait for their checks at once; others are answered without one. */
export const maxWaiting = 10;
export const maxTries = 10;
/** A check that no worker could make for so long is given up. */
export const givenUpAfterDays = 7;

/** How long a check waits for a worker: soon again at first, and every ten minutes in the end. */
export function pauseSeconds(ageSeconds: number): number {
  return Math.min(600, Math.max(5, Math.floor(ageSeconds / 10)));
}
