import type { CheckStep } from '#domain/registry/checks/model.ts';

/** Short decisions in the database. They run as local activities of the workflow. */
export interface CheckStepActivities {
  nextCheckStep(checkId: string): Promise<CheckStep>;
}

/** Checks in a sandbox, on the pool's queue for checks. It completes once the result is stored. Repeating it does no harm. */
export interface CheckActivities {
  checkTemplate(checkId: string): Promise<void>;
}
