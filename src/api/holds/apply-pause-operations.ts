import { z } from 'zod';
import { LockView } from '#api/environments/views.ts';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import { findApplyPause, type PauseTarget, pauseApplies, resumeApplies } from '#domain/holds/apply-pause.ts';
import { NewHold } from '#domain/holds/model.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { pauseActions } from './actions.ts';

const access: Access = {
  anyOf: ['settings.manage'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'apply_pauses', verb: 'get' },
};
/** The resource id of the pause in the audit, like that of the settings. */
const name = 'global';
const changeAccess: Access = { ...access, review: { resource: 'apply_pauses', verb: 'update' } };
const PauseView = z
  .object({
    pause: LockView.nullable().describe('Null: applies are not paused.'),
    revision: z.int().describe('Counts the changes of the pause; its end by its `until` is none.'),
    actions: pauseActions.view,
  })
  .meta({ id: 'ApplyPause' });
const PauseApplies = NewHold.extend(ExpectedRevision).meta({ id: 'PauseApplies' });

function showPause(context: ActionContext, target: PauseTarget) {
  const { pause, revision } = target;
  return { pause, revision, actions: pauseActions.describe(context, target) };
}

export const get = read({
  id: 'apply_pause.get',
  route: 'GET /api/v1/admin/apply-pause',
  summary: 'Read whether all applies of the installation are paused',
  responses: { 200: PauseView },
  access,
  target: ({ em }) => findApplyPause(em, false),
  handle: async ({ target, operations, principal }) => showPause({ operations, principal }, target),
});

export const set = command({
  id: 'apply_pause.set',
  route: 'PUT /api/v1/admin/apply-pause',
  summary: 'Pause all applies of the installation: runs plan and wait for review, but no apply starts',
  description:
    'What already applies is not interrupted. Another pause is replaced, and the audit record holds it. Send the revision that you ' +
    'have read, as `expected_revision` or in `If-Match`, to get 409 instead if the pause was changed meanwhile.',
  body: PauseApplies,
  responses: { 200: PauseView },
  access: changeAccess,
  target: ({ em, lock }) => findApplyPause(em, lock),
  resourceId: () => name,
  idempotency: 'none',
  audit: 'applies.paused',
  handle: async ({ tx, target, body, principal, operations }) => {
    const { expected_revision: expectedRevision, ...hold } = body;
    const { pause, revision } = await pauseApplies(tx, target, principal, { ...hold, expectedRevision });
    const answer = showPause({ operations, principal }, { ...target, pause, revision });
    return { id: name, before: { pause: target.pause }, after: { pause }, revision, answer };
  },
});

export const end = command({
  id: 'apply_pause.end',
  route: 'DELETE /api/v1/admin/apply-pause',
  summary: 'End the pause: the applies that wait start',
  responses: { 204: Nothing },
  access: { ...changeAccess, review: { resource: 'apply_pauses', verb: 'end' } },
  target: ({ em, lock }) => findApplyPause(em, lock),
  resourceId: () => name,
  ifMatch: true,
  idempotency: 'none',
  audit: 'applies.resumed',
  handle: async ({ tx, target, expectedRevision }) => {
    const { pause, revision } = await resumeApplies(tx, target, expectedRevision);
    return { id: name, before: { pause: target.pause }, after: { pause }, revision };
  },
});
