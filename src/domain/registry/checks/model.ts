import type { VersionedTool } from '#domain/tools/model.ts';

/** Checks of versions before they run: their findings, and the steps of checks by a worker in a sandbox. Pure. */

/** An error or a hint about a version. */
export interface CheckFinding {
  /** A JSON pointer into the spec, such as `/variables/properties/size`. */
  readonly path: string;
  /** A file of the version. */
  readonly file?: string | undefined;
  /** 1 for the first. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** `not_done`: no worker has checked the version yet, or the check was not possible. */
export const checkStates = ['passed', 'failed', 'not_done'] as const;
export type CheckState = (typeof checkStates)[number];

/** What is known about a version before it runs. */
export interface VersionCheck {
  readonly state: CheckState;
  /** When the check ended (RFC 3339). */
  readonly at: string;
  /** The tool that checked it; null for commands, and if none did. */
  readonly tool: VersionedTool | null;
  readonly errors: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
  /** What could not be checked, and why. */
  readonly notChecked: readonly string[];
}

/** The findings of a worker in a sandbox. */
export type SandboxCheck = Omit<VersionCheck, 'at'>;

/** The workflow type of checks. The histories of workflows contain it, so it never changes. */
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
/** A check without a version that is older than this is abandoned: its request ended without taking the result. */
export const abandonedAfterSeconds = (2 * requestWaitMs) / 1000;
/** The maximum time of one tool for a check. */
export const checkLimitSeconds = 60;
/** How long a tool may take to stop before it is killed. */
export const checkGraceSeconds = 5;
/** The maximum number of concurrent checks of one person, and of one owner of templates. */
export const maxUnderWay = { caller: 2, owner: 4 } as const;
/** The maximum number of requests of one person that wait for their checks at once; further ones are answered without a check. */
export const maxWaiting = 10;
export const maxTries = 10;
/** After this time without a result from a worker, the service gives up a check. */
export const givenUpAfterDays = 7;

/** How long a check waits before it looks for a worker again: a few seconds at first, at most ten minutes later. */
export function pauseSeconds(ageSeconds: number): number {
  return Math.min(600, Math.max(5, Math.floor(ageSeconds / 10)));
}
