import type { CheckStep } from '#domain/undo/model.ts';

/** The steps of the check of an undo. They run as local activities of the workflow. */
export interface UndoCheckActivities {
  /** Ends the check if its scan has ended, and returns whether there is something to wait for. */
  advanceUndoCheck(attemptId: string): Promise<CheckStep>;
}
