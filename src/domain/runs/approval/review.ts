import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import { refuseByStatus } from '../actions.ts';
import type { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { finishRun } from '../steps/transitions.ts';
import { RunReview } from './entity.ts';
import { findReviewRefusal, responsiblePerson } from './rules.ts';
import { readApprovalFacts } from './store.ts';

export interface Review {
  readonly decision: 'approve' | 'reject';
  readonly comment: string;
  readonly planDigest: string;
}

/**
 * Records a review; `findReviewRefusal` is its rule. The caller has locked the run. A rejection ends the run. The last required approval
 * lets it continue. Every review wakes the run, which then notices approvals that have lapsed.
 * @throws ActionRefused if the rule refuses the review
 */
export async function reviewRun(tx: Transaction, run: Run, reviewer: Principal, review: Review): Promise<void> {
  const { decision, comment, planDigest } = review;
  refuseByStatus(decision, run.status);
  const facts = await readApprovalFacts(tx.em, run.id);
  throwIfRefused(findReviewRefusal(facts, reviewer, { decision, planDigest }));
  await addReview(tx, run, reviewer, review);
  publishRunEvent(tx, run, 'run.reviewed', { by: reviewer.name, decision, comment });
  if (decision === 'reject') await finishRun(tx, run, { status: 'canceled', reason: 'rejected' });
  tx.notifyEngine(run.idempotencyKey, { kind: 'signal', signal: wakeSignal });
}

async function addReview(tx: Transaction, run: Run, reviewer: Principal, review: Review): Promise<void> {
  run.revision += 1;
  const row = tx.em.create(RunReview, {
    id: newId(),
    runId: run.id,
    reviewerId: reviewer.id,
    reviewerType: reviewer.kind,
    reviewerName: reviewer.name,
    responsibleUserId: responsiblePerson(reviewer),
    decision: review.decision,
    comment: review.comment,
    planDigest: review.planDigest,
  });
  await tx.em.persist(row).flush();
}
