import type { ActionContext } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import { replaceAttachments } from '#domain/variable-sets/attach.ts';
import { readAttachedIds, readAttachments } from '#domain/variable-sets/attachments-store.ts';
import { findVariableSet, type VariableSetTarget } from '#domain/variable-sets/store.ts';
import { variableSetActions } from './actions.ts';
import { ReplaceAttachments, toAttachments } from './bodies.ts';
import { changesSet, readsSet } from './operations.ts';
import { AttachmentsView, viewAttachments } from './views.ts';

/** Operations on the places where a set is attached. */

async function showAttachments(em: Em, context: ActionContext, target: VariableSetTarget) {
  const { set } = target;
  const shown = await readAttachments(em, set, context.principal);
  const { projectIds, environmentIds } = await readAttachedIds(em, set.id);
  const hidden = projectIds.length + environmentIds.length - shown.length;
  return viewAttachments({ shown, hidden }, set.revision, variableSetActions.describe(context, target));
}

export const getAttachments = read({
  ...readsSet,
  id: 'variable_set_attachments.get',
  route: 'GET /api/v1/variable-sets/:id/attachments',
  summary: 'Read to which projects and environments a set is attached',
  responses: { 200: AttachmentsView },
  handle: ({ em, operations, principal, target }) => showAttachments(em, { operations, principal }, target),
});

export const replaceOfAttachments = command({
  ...changesSet,
  id: 'variable_set_attachments.replace',
  route: 'PUT /api/v1/variable-sets/:id/attachments',
  summary: 'Attach a set to these projects and environments, and to no others',
  description: 'Each must belong to the owner of the set. Runs that are admitted from now on get its variables there.',
  body: ReplaceAttachments,
  responses: { 200: AttachmentsView },
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  audit: 'variable_set.attached',
  handle: async ({ tx, operations, principal, target, body }) => {
    const { before, after } = await replaceAttachments(tx, target, toAttachments(body));
    const answer = await showAttachments(tx.em, { operations, principal }, target);
    return { id: target.set.id, revision: target.set.revision, before, after, answer };
  },
});
