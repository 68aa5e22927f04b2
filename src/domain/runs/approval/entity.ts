import { defineEntity, p } from '@mikro-orm/core';
import { createdAt, id } from '#database/columns.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { Run } from '../entity.ts';

/** A review of the plan of a run. */
export const RunReviewSchema = defineEntity({
  name: 'RunReview',
  tableName: 'run_reviews',
  uniques: [{ name: 'run_reviews_run_person_unique', properties: ['runId', 'responsibleUserId'] }],
  properties: {
    id: id(),
    runId: () => p.manyToOne(Run).mapToPk().fieldName('run_id').deleteRule('restrict'),
    reviewerId: p.uuid(),
    reviewerType: p.string().$type<PrincipalKind>(),
    reviewerName: p.string(),
    /** Each person counts once, whichever credential or account they use. */
    responsibleUserId: p.uuid(),
    decision: p.string().$type<'approve' | 'reject'>(),
    comment: p.text(),
    planDigest: p.string(),
    createdAt: createdAt(),
  },
});
export class RunReview extends RunReviewSchema.class {}
RunReviewSchema.setClass(RunReview);
