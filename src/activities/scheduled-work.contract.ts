/** Starts the work of schedules. */
export interface ScheduledWorkActivities {
  /** Starts the work of a row for one time. Does nothing if it was started before, or if the row no longer exists. */
  triggerScheduledWork(request: { kind: string; id: string; scheduledAt: string }): Promise<void>;
}
