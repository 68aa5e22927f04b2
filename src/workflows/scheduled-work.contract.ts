/** The input of the workflow that starts scheduled work. */
export interface ScheduledWorkInput {
  readonly kind: string;
  readonly id: string;
  /** The time, if somebody starts the work now. Otherwise, it is that of the schedule. */
  readonly scheduled_at?: string;
}
