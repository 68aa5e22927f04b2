/** How workflows call activities, and how they tell that one failed. */

/**
 * Options of the local activity that decides the next step of a workflow. If the database is unreachable, it is tried again until it is
 * back; if a worker dies, another one repeats it within seconds.
 */
export const stepOptions = {
  startToCloseTimeout: '30s',
  localRetryThreshold: '1 minute',
  retry: { initialInterval: '200ms', maximumInterval: '30s' },
} as const;

/** Whether an activity failed or could not be executed. The database knows why, so the workflow goes on with the next step. */
export function isActivityFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'ActivityFailure';
}
