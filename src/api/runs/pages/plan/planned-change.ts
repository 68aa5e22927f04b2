import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { listPlanChanges } from '../../plan-operations.ts';

/** A page of a plan, as the API shows it. */
export type PlanPage = EncodedAnswerOf<(typeof listPlanChanges)['responses']>;

/** A change of a plan. A fact that the tool does not report is null. */
export type PlannedChange = PlanPage['changes'][number];
