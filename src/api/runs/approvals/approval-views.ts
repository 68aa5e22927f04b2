import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { Time } from '#api/pipeline/schemas.ts';
import { type ApprovalFacts, countsNow } from '#domain/runs/approval/rules.ts';
import type { RunDetails } from '#domain/runs/details-store.ts';
import { approvalRules, strictestPolicy } from '#domain/shared/vocabulary/approval.ts';
import { By } from '../../pipeline/schemas.ts';

const ListedReviewView = z
  .object({
    by: By,
    decision: z.enum(['approve', 'reject']),
    comment: z.string(),
    plan_digest: z.string(),
    at: Time,
  })
  .meta({ id: 'ListedReview' });

const ReviewView = z
  .object({
    ...ListedReviewView.shape,
    counts: z
      .boolean()
      .nullable()
      .describe(
        'Whether it counts now as an approval of the plan that waits: its reviewer is enabled and could still give it. Null: the run ' +
          'does not wait for approval.',
      ),
  })
  .meta({ id: 'Review' });

/** The approval of a run in a list. Only the view of a single run says which reviews count. */
export const ListedApprovalView = z.object({
  required: z.int(),
  when: z.enum(approvalRules),
  allow_self: z.boolean(),
  needs: z
    .array(z.object({ permission: z.string(), because: z.string() }).meta({ id: 'ReviewNeed' }))
    .describe('The permissions that a review takes in place of run:approve, and what of the run demands each.'),
  expires_at: Time.nullable(),
  reviews: z.array(ListedReviewView),
});

export const ApprovalView = z.object({ ...ListedApprovalView.shape, reviews: z.array(ReviewView) });

/** A run keeps the stricter of two policies: that of its admission and that of now. */
export function toListedApproval(run: RunDetails): z.input<typeof ListedApprovalView> {
  return { ...describePolicy(run), reviews: run.reviews.map(toListedReview) };
}

/** @param facts present while the run waits for approval */
export function toApproval(run: RunDetails, facts: ApprovalFacts | null): z.input<typeof ApprovalView> {
  const countsIn = ({ reviews, ...others }: ApprovalFacts, id: string) =>
    reviews.some((review) => review.id === id && countsNow(others, review));
  const reviews = run.reviews.map((review) => ({
    ...toListedReview(review),
    counts: facts && countsIn(facts, review.id),
  }));
  return { ...describePolicy(run), reviews };
}

function describePolicy(run: RunDetails) {
  return {
    ...strictestPolicy(run.admittedPolicy, run.presentPolicy),
    needs: [...run.reviewNeeds],
    expires_at: run.approvalExpiresAt,
  };
}

function toListedReview(review: RunDetails['reviews'][number]): z.input<typeof ListedReviewView> {
  return answerOf(ListedReviewView.shape, {
    ...review,
    by: { type: review.reviewerType, id: review.reviewerId, name: review.reviewerName },
    at: review.createdAt,
  });
}
