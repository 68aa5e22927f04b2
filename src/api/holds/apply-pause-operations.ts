import { z } from 'zod';
import { LockView } from '#api/environments/views.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import { findApplyPause, pauseApplies, resumeApplies } from '#domain/holds/apply-pause.ts';
import { NewHold } from '#domain/holds/model.ts';
import type { Access } from '#domain/shared/access/decide.ts';

const access: Access = {
  anyOf: ['settings.manage'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'apply_pauses', verb: 'get' },
};
/** The audit names the one pause by this, as it names the settings. */
const name = 'global';
const changeAccess: Access = { ...access, review: { resource: 'apply_pauses', verb: 'update' } };
const PauseView = z
  .object({ pause: LockView.nullable().describe('Null: applies are not paused.') })
  .meta({ id: 'ApplyPause' });

export const get = read({
  id: 'apply_pause.get',
  route: 'GET /api/v1/admin/apply-pause',
  summary: 'Read whether all applies of the installation are paused',
  responses: { 200: PauseView },
  access,
  target: ({ em }) => findApplyPause(em, false),
  handle: async ({ target }) => ({ pause: target.pause }),
});

export const set = command({
  id: 'apply_pause.set',
  route: 'PUT /api/v1/admin/apply-pause',
  summary: 'Pause all applies of the installation: runs plan and wait for review, but no apply starts',
  description: 'What already applies is not interrupted. Another pause is replaced.',
  body: NewHold.meta({ id: 'PauseApplies' }),
  responses: { 200: PauseView },
  access: changeAccess,
  target: ({ em, lock }) => findApplyPause(em, lock),
  resourceId: () => name,
  idempotency: 'none',
  audit: 'applies.paused',
  handle: async ({ tx, target, body, principal }) => {
    const pause = await pauseApplies(tx, target, principal, body);
    return { id: name, before: { pause: target.pause }, after: { pause }, answer: { pause } };
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
  idempotency: 'none',
  audit: 'applies.resumed',
  handle: async ({ tx, target }) => {
    await resumeApplies(tx, target);
    return { id: name, before: { pause: target.pause }, after: { pause: null } };
  },
});
