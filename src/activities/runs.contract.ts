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
 * without waiting.
 */
export interface AttemptActivities {
  executeAttempt(request: { runId: string; attemptId: string }): Promise<void>;
}
