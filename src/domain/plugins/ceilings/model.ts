/** An action of a ceiling. Its approval has an id of its own: taken out and put in again, the action is another approval. */
export interface ApprovedAction {
  readonly name: string;
  readonly approval: string;
}

/** An execution of a ceiling, pinned to what was approved. */
export interface ApprovedExecution {
  readonly name: string;
  readonly release: string;
  readonly installation_revision: number;
}
