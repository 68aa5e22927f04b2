import type { NextStep } from '#domain/runs/model.ts';

/** Short state transitions in the database. They run as local activities of the workflow. */
export interface RunActivities {
  nextStep(request: {
    runId: string;
    executed: string | null;
    canceled: boolean;
    suspected: boolean;
  }): Promise<NextStep>;
}

/**
 * Executes attempts, on the queue of the run's pool. It completes once the result is stored, of this attempt and of those that followed it
 * without waiting. It returns the step that the run takes after them, if the transaction that stored the last result has decided it; a
 * worker of an earlier release returns nothing.
 */
export interface AttemptActivities {
  /** Takes the first step of a queued run. If the run begins, executes its attempts, and completes and returns like `executeAttempt`. */
  beginRun(request: { runId: string }): Promise<NextStep | null>;
  executeAttempt(request: { runId: string; attemptId: string }): Promise<NextStep | null | undefined>;
}
