/** Starts the work of schedules. */
export interface ScheduledWorkActivities {
  /** Starts the work of a row at one time; nothing if it was started before, or if the row is gone. */
  triggerScheduledWork(request: { kind: string; id: string; scheduledAt: string }): Promise<void>;
}
