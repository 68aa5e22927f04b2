import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { requestRunApproval } from '#domain/runs/approval/requests.ts';
import { reviewRun } from '#domain/runs/approval/review.ts';
import { anyReviewAuthority, reviewAccess } from '#domain/runs/approval/rules.ts';
import { findRun, readPlan } from '#domain/runs/store.ts';
import { findRunToChange } from '#domain/runs/targets.ts';
import { Id } from '#domain/shared/ids.ts';
import { accessReview, getRun, RunParams, readAccess } from '../operations.ts';
import { missingPlan } from '../plan-operations.ts';
import { PlanView, toPlan } from '../plan-views.ts';
import { RunView } from '../views.ts';

const RequestApproval = z
  .strictObject({ reviewers: z.array(Id).max(50).default([]), message: z.string().max(4000).default('') })
  .meta({ id: 'RequestApproval' });
export const ReviewRun = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    comment: z.string().max(4000).default(''),
    plan_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, {
      error: 'expected the digest of the plan, "sha256:" and 64 hexadecimal digits',
    }),
  })
  .refine(({ decision, comment }) => decision === 'approve' || comment.trim() !== '', {
    path: ['comment'],
    error: 'say what the requester should change: a rejection needs it',
  })
  .meta({ id: 'ReviewRun', description: 'A rejection needs a comment, which tells the requester what to change.' });

export const getPlan = read({
  id: 'runs.get_plan',
  route: 'GET /api/v1/runs/:id/plan',
  summary: 'Read the plan of a run: its changes, before and after, with secrets masked',
  params: RunParams,
  responses: { 200: PlanView },
  access: { ...readAccess, review: { inherits: 'runs.get' } },
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params }) => {
    const plan = await readPlan(em, params.id);
    if (!plan) throw await missingPlan(em, params.id);
    return toPlan(params.id, plan);
  },
});

export const requestApproval = command({
  id: 'runs.request_approval',
  route: 'POST /api/v1/runs/:id/approval/request',
  summary: 'Ask people to review a run. This does not change who is allowed to.',
  description:
    'The run shows them in `reviewers`. Without `reviewers`, all users who may review the run are notified, except you; 422 if there is none. 422 also names the ' +
    'ids of those who may not review it, or whom you may not know. You notify each of them of a run once a day (UTC): asking again ' +
    'answers 202, too, and nobody hears of it again before the next day.',
  params: RunParams,
  body: RequestApproval.prefault({}),
  responses: { 202: RunView },
  at: getRun,
  access: { ...readAccess, review: { ...accessReview, verb: 'request_approval' } },
  target: ({ em, params, lock }) => findRunToChange(em, params.id, lock),
  targetName: 'run',
  idempotency: 'optional',
  audit: 'run.approval_requested',
  handle: async ({ tx, target, body, principal }) => {
    await requestRunApproval(tx, target.run, principal, body);
    return { id: target.run.id, after: { reviewers: body.reviewers }, revision: target.run.revision };
  },
});

export const review = command({
  id: 'runs.review',
  route: 'POST /api/v1/runs/:id/approval/review',
  summary: "Approve or reject a run's pending plan, named by its digest",
  params: RunParams,
  body: ReviewRun,
  responses: { 200: RunView },
  at: getRun,
  access: { ...anyReviewAuthority, review: { ...accessReview, verb: 'approve' } },
  target: ({ em, params, lock }) => findRunToChange(em, params.id, lock),
  targetName: 'run',
  accessTo: ({ reviewNeeds }) => reviewAccess(reviewNeeds),
  idempotency: 'optional',
  audit: 'run.reviewed',
  handle: async ({ tx, target, body, principal }) => {
    const { decision, comment, plan_digest: planDigest } = body;
    await reviewRun(tx, target.run, principal, { decision, comment, planDigest });
    return { id: target.run.id, after: body, revision: target.run.revision };
  },
});
