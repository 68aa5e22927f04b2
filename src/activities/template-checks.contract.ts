import type { CheckStep } from '#domain/registry/checks/model.ts';

/** Short decisions in the database. They run as local activities of the workflow. */
export interface CheckStepActivities {
  nextCheckStep(checkId: string): Promise<CheckStep>;
}

/** Checks in a sandbox. It runs on the queue for checks of a pool, and completes once the result is stored. Repeating it does no harm. */
export interface CheckActivities {
  checkTemplate(checkId: string): Promise<void>;
}
