/** The input of the workflow that checks whether a run can be undone. */
export interface UndoCheckInput {
  readonly attempt_id: string;
}
