import type { Principal } from '#domain/shared/access/principal.ts';
import type { Em } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { brokenConstraint } from '#domain/shared/sql.ts';
import type { Transaction } from '#domain/shared/transaction.ts';
import { type Run, RunReview } from './entity.ts';
import { AlreadyReviewed, PlanMoved, RunNotPending, SelfApprovalRefused } from './errors.ts';
import { recordEvent } from './events.ts';
import { finishRun } from './lifecycle.ts';
import { wakeSignal } from './model.ts';
import { isApproved } from './steps.ts';

export interface Review {
  readonly decision: 'approve' | 'reject';
  readonly comment: string;
  readonly plan_digest: string;
}

/**
 * The one function that every review goes through: the run is pending, the digest is that of its plan, the person has not
 * decided yet and, for an approval, does not answer for the run: they did not ask for it, nor for a run that it was requeued
 * from, and did not publish its version. A rejection ends the run; the last approval that is needed lets it go on.
 */
export async function reviewRun(tx: Transaction, run: Run, reviewer: Principal, review: Review): Promise<void> {
  if (run.status !== 'pending_approval') throw new RunNotPending(run.status);
  if (run.planDigest !== review.plan_digest) throw new PlanMoved(run.planDigest ?? null);
  if (run.approvalExpiresAt && run.approvalExpiresAt <= new Date()) throw new Conflict('the time for approval is over');
  const person = responsiblePerson(reviewer);
  if (review.decision === 'approve' && !run.approvalAllowSelf) await refuseSelfApproval(tx.em, run, reviewer);
  await addReview(tx, run, reviewer, person, review);
  run.revision += 1;
  await recordEvent(tx.em, run.id, 'run.reviewed', {
    by: reviewer.name,
    decision: review.decision,
    comment: review.comment,
  });
  if (review.decision === 'reject') await finishRun(tx, run, 'canceled', 'rejected');
  if (review.decision === 'reject' || (await isApproved(tx, run))) {
    tx.tell(run.idempotencyKey, { kind: 'signal', signal: wakeSignal });
  }
}

async function addReview(
  tx: Transaction,
  run: Run,
  reviewer: Principal,
  person: string,
  review: Review,
): Promise<void> {
  const row = tx.em.create(RunReview, {
    id: newId(),
    runId: run.id,
    reviewerId: reviewer.id,
    reviewerType: reviewer.kind,
    reviewerName: reviewer.name,
    responsibleUserId: person,
    decision: review.decision,
    comment: review.comment,
    planDigest: review.plan_digest,
  });
  try {
    await tx.em.persist(row).flush();
  } catch (error) {
    throw brokenConstraint(error) === 'run_reviews_run_person_unique' ? new AlreadyReviewed() : error;
  }
}

/** Names and notifies reviewers; changes no state. */
export async function requestApproval(
  tx: Transaction,
  run: Run,
  by: Principal,
  request: { reviewers: readonly string[]; message: string },
): Promise<void> {
  if (run.status !== 'pending_approval') throw new RunNotPending(run.status);
  await recordEvent(tx.em, run.id, 'run.approval_requested', {
    by: by.name,
    reviewers: [...request.reviewers],
    message: request.message,
  });
}

/** @throws SelfApprovalRefused where the reviewer answers for the run */
async function refuseSelfApproval(em: Em, run: Run, reviewer: Principal): Promise<void> {
  const [answers] = await em.execute<[Answers]>(answersFor, [
    run.id,
    ...[responsiblePerson(reviewer), reviewer.id],
    ...[responsiblePerson(reviewer), reviewer.id],
  ]);
  if (answers.requested) throw new SelfApprovalRefused(null);
  if (answers.published) throw new SelfApprovalRefused(run.templateVersion);
}

/** In which ways what a run does goes back to the reviewer, or to the person who answers for them. */
interface Answers {
  readonly requested: boolean;
  readonly published: boolean;
}

/**
 * Compares the reviewer with whoever asked for the run, or for a run that it repeats, and with the publisher of its version.
 * An account that asked or published stays the one that did, whoever answers for it by now.
 */
const answersFor = `
  with recursive repeated as (
    select requeued_from, responsible_user_id, requested_by_id, template_version_id from runs where id = ?
    union all
    select r.requeued_from, r.responsible_user_id, r.requested_by_id, r.template_version_id from runs r
      join repeated on r.id = repeated.requeued_from)
  select exists (select 1 from repeated where responsible_user_id = ? or requested_by_id = ?) as requested,
         exists (select 1 from repeated join template_versions v on v.id = repeated.template_version_id
                  where v.responsible_user_id = ? or v.published_by = ?) as published`;

/** Four eyes compares people: an account's review is its owner's, and its own where nobody owns it. */
function responsiblePerson(reviewer: Principal): string {
  return reviewer.responsibleUserId ?? reviewer.id;
}
