import type { NextStep } from '#domain/runs/model.ts';

/** Short transitions in the database; run as local activities beside the workflow. */
export interface RunActivities {
  nextStep(request: {
    runId: string;
    executed: string | null;
    canceled: boolean;
    suspected: boolean;
  }): Promise<NextStep>;
}

/**
 * The work itself; run on the queue of the run's pool. Answers when the attempt's result is kept, and that of the attempt
 * that followed it, where nothing had to be waited for.
 */
export interface ExecutionActivities {
  executeAttempt(request: { runId: string; attemptId: string }): Promise<void>;
}
