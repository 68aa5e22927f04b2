import { z } from 'zod';
import { describeActions } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { actionsView, pageOf } from '#api/pipeline/schemas.ts';
import { showAdmittedRun } from '#api/runs/actions.ts';
import { getRun, accessReview as runReview } from '#api/runs/operations.ts';
import { RunView } from '#api/runs/views.ts';
import { admissionOf, findRequeueTarget } from '#domain/runs/admission/repeat.ts';
import { maxAddressLength } from '#domain/runs/attempts/checks.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { checkCandidate as admitCandidateCheck } from '#domain/undo/attempts/candidate-check.ts';
import { beginUndo } from '#domain/undo/attempts/check.ts';
import { maxCollateral } from '#domain/undo/attempts/collateral.ts';
import { readDestruction, readObstacle } from '#domain/undo/attempts/obstacles.ts';
import { promote as promoteCandidate } from '#domain/undo/attempts/promotion.ts';
import { findUndoRefusal } from '#domain/undo/attempts/rules.ts';
import { findAttemptOwner, findAttemptToChange, findUndoFacts } from '#domain/undo/attempts/targets.ts';
import { listAttempts, listCandidateChecks, readAttempt } from '#domain/undo/store.ts';
import { attemptActions } from './actions.ts';
import {
  CandidateCheckView,
  ListedUndoAttemptView,
  toCandidateCheck,
  toListedAttempt,
  UndoAttemptView,
} from './views.ts';

const Params = z.strictObject({ id: Id });
const ofTeam = { scope: 'team', hidden: 'not_found' } as const;
const review = { resource: 'selective_undo_attempts', unscoped: true, target: findAttemptOwner } as const;

const readAuthority = { ...ofTeam, anyOf: ['run:read'], teamAction: 'team.metadata.read' } as const;
const changeAuthority = {
  ...ofTeam,
  anyOf: ['run:create'],
  allOf: ['run:read'],
  teamAction: 'team.metadata.write',
} as const;

const readAccess: Access = { ...readAuthority, review: { ...review, verb: 'get' } };
const changeAccess: Access = { ...changeAuthority, review: { ...review, verb: 'check_candidate' } };

export const getAttempt = read({
  id: 'selective_undo.get',
  route: 'GET /api/v1/selective-undo/:id',
  summary: 'Read an attempt at undoing a run: its verdicts, its candidate and what is in the way',
  params: Params,
  responses: { 200: UndoAttemptView },
  access: readAccess,
  target: ({ em, params }) => findAttemptOwner(em, params.id),
  targetName: 'selective undo',
  handle: async ({ em, params, target, operations, principal }) => {
    const details = await readAttempt(em, params.id);
    if (!details) throw new NotFound('selective undo');
    const [destruction, obstacle] = await Promise.all([readDestruction(em, details.runId), readObstacle(em, details)]);
    const facts = { ...target, details, destruction, obstacle };
    return { ...toListedAttempt(details), actions: attemptActions.describe({ operations, principal }, facts) };
  },
});

export const list = read({
  id: 'runs.list_selective_undo',
  route: 'GET /api/v1/runs/:id/selective-undo',
  summary: 'List the attempts at undoing a run, newest first, and whether another one can be made',
  params: Params,
  query: z.strictObject(pageQuery),
  responses: {
    200: pageOf('attempts', ListedUndoAttemptView)
      .extend({ actions: actionsView(['check']) })
      .meta({ id: 'UndoAttemptPage' }),
  },
  access: { ...readAuthority, review: { inherits: 'runs.get' } },
  target: ({ em, params }) => findUndoFacts(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query, target, operations, principal }) => {
    const page = await listAttempts(em, params.id, query);
    const check = {
      name: 'check',
      operation: 'runs.check_selective_undo',
      target,
      findRefusal: () => findUndoRefusal(target),
    } as const;
    return {
      attempts: page.items.map(toListedAttempt),
      next_cursor: page.nextCursor,
      actions: describeActions({ operations, principal }, [check]),
    };
  },
});

export const check = command({
  id: 'runs.check_selective_undo',
  route: 'POST /api/v1/runs/:id/selective-undo/check',
  summary: 'Find out what undoing one run would change, keeping what later runs changed',
  description:
    'Makes an attempt. Its verdicts say, for each path that the run changed, whether the change can be taken back. A scan compares the instance with its ' +
    'state; until it has ended, the attempt is `checking`. Nothing is changed. Repeat the same check with the same Idempotency-Key.',
  params: Params,
  responses: { 202: UndoAttemptView },
  at: getAttempt,
  access: { ...changeAuthority, review: { ...runReview, verb: 'undo' } },
  target: ({ em, params, lock }) => findRequeueTarget(em, params.id, lock),
  targetName: 'run',
  resource: 'selective_undo',
  resourceId: () => null,
  idempotency: 'required',
  audit: 'selective_undo.requested',
  handle: async ({ tx, key, target, principal, services }) => {
    const attempt = await beginUndo(tx, services, { key: key ?? '', target }, principal);
    return { id: attempt.id, after: { runId: attempt.runId, state: attempt.state }, revision: attempt.revision };
  },
});

export const listChecks = read({
  id: 'selective_undo.list_candidate_checks',
  route: 'GET /api/v1/selective-undo/:id/candidate-checks',
  summary: 'List the plans of the candidate, newest first',
  params: Params,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('candidate_checks', CandidateCheckView) },
  access: { ...readAccess, review: { inherits: 'selective_undo.get' } },
  target: ({ em, params }) => findAttemptOwner(em, params.id),
  targetName: 'selective undo',
  handle: async ({ em, params, query }) => {
    const page = await listCandidateChecks(em, params.id, query);
    return { candidate_checks: page.items.map(toCandidateCheck), next_cursor: page.nextCursor };
  },
});

export const checkCandidate = command({
  id: 'selective_undo.check_candidate',
  route: 'POST /api/v1/selective-undo/:id/candidate-checks',
  summary: 'Plan the candidate, and list the resources that it touches and the undone run did not',
  description:
    'Starts a run of the operation `plan` with your authority, which changes nothing. Once it has succeeded, the attempt is `promotable`.',
  params: Params,
  responses: { 202: UndoAttemptView },
  at: getAttempt,
  access: changeAccess,
  target: ({ em, params, lock }) => findAttemptToChange(em, params.id, lock),
  targetName: 'selective undo',
  idempotency: 'optional',
  audit: 'selective_undo.candidate_check_requested',
  handle: async ({ tx, key, target, principal, services }) => {
    const { runId } = await admitCandidateCheck(tx, services, { key: key ?? '', target }, principal);
    const { id, state, revision } = target.attempt;
    return { id, after: { state, runId }, revision };
  },
});

const Promote = z
  .strictObject({
    candidate_digest: z.string().min(1).max(255),
    accepted_collateral: z
      .array(z.string().min(1).max(maxAddressLength))
      .max(maxCollateral)
      .describe(
        'Exactly the resources of `candidate.collateral`, in any order. A candidate check that finds more than can be accepted fails with the problem `too_much_collateral`.',
      ),
    message: z.string().max(4000).optional(),
  })
  .meta({ id: 'PromoteUndo' });

export const promote = command({
  id: 'selective_undo.promote',
  route: 'POST /api/v1/selective-undo/:id/promote',
  summary: 'Deploy the candidate, as a run that follows every policy',
  description:
    'The body names the candidate and accepts its collateral. The run plans again, needs at least the approval that the undone run needed, and ends ' +
    '`failed` with the reason `stale` if the instance moves before it applies. Who requested the undone run does not approve it.',
  params: Params,
  body: Promote,
  responses: { 202: RunView },
  at: getRun,
  access: { ...changeAccess, review: { ...review, verb: 'promote' } },
  target: ({ em, params, lock }) => findAttemptToChange(em, params.id, lock),
  targetName: 'selective undo',
  resource: 'runs',
  resourceId: () => null,
  idempotency: 'optional',
  audit: 'run.undo_requested',
  handle: async ({ tx, key, target, body, principal, services, operations }) => {
    const promotion = {
      candidateDigest: body.candidate_digest,
      acceptedCollateral: body.accepted_collateral,
      message: body.message,
    };
    const run = await promoteCandidate(tx, services, { key: key ?? '', target, promotion }, principal);
    const answer = showAdmittedRun({ operations, principal }, admissionOf(target), run);
    return { id: run.id, after: { undoes: target.run.id, attempt: target.attempt.id }, revision: run.revision, answer };
  },
});
