import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { ReplaceVariables, toNewVariable } from '#api/variables/bodies.ts';
import { describeVariable, VariableView, viewVariable } from '#api/variables/views.ts';
import type { Em } from '#database/database.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { replaceAttachments } from '#domain/variable-sets/attach.ts';
import { readAttachments } from '#domain/variable-sets/attachments-store.ts';
import { countChange, findVariableSet, type VariableSetTarget } from '#domain/variable-sets/store.ts';
import { replaceVariables } from '#domain/variables/changes.ts';
import { listVariables, readShownVariables } from '#domain/variables/store.ts';
import { readAccess, writeAccess } from './access.ts';
import { variableSetActions } from './actions.ts';
import { ReplaceAttachments, toAttachments } from './bodies.ts';
import { VariableSetParams } from './operations.ts';
import { AttachmentsView, viewAttachments } from './views.ts';

/** What a set holds, and where it is attached. */

const readsSet = {
  params: VariableSetParams,
  access: { ...readAccess, review: { inherits: 'variable_sets.get' } },
  target: ({ em, params }: { em: Em; params: { id: string } }) => findVariableSet(em, params.id),
  targetName: 'variable set',
} as const;

const changesSet = {
  params: VariableSetParams,
  access: { ...writeAccess, review: { inherits: 'variable_sets.update' } },
  targetName: 'variable set',
  resourceId: ({ params }: { params: { id: string } }) => params.id,
  idempotency: 'none',
} as const;

function toHolder({ set, archived }: VariableSetTarget) {
  return { kind: 'variable_set', id: set.id, archived } as const;
}

export const listOfVariables = read({
  ...readsSet,
  id: 'variable_set_variables.list',
  route: 'GET /api/v1/variable-sets/:id/variables',
  summary: 'List the variables of a set by name; sensitive ones without their values',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('variables', VariableView) },
  handle: async ({ em, target, query }) => {
    const page = await listVariables(em, toHolder(target), query);
    return { variables: page.items.map(viewVariable), next_cursor: page.nextCursor };
  },
});

export const replaceOfVariables = command({
  ...changesSet,
  id: 'variable_set_variables.replace',
  route: 'PUT /api/v1/variable-sets/:id/variables',
  summary: 'Replace all variables of a set at once',
  description:
    'Variables that the request does not name are removed, and those that stay the same keep their revision. A sensitive variable ' +
    'whose value is left out or null keeps it. The list may be sent back as it was read: it is refused if somebody changed or removed one of ' +
    'its variables meanwhile.',
  body: ReplaceVariables,
  responses: { 200: z.object({ variables: z.array(VariableView) }).meta({ id: 'VariableSetVariables' }) },
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  audit: 'variable_set.variables_replaced',
  handle: async ({ tx, principal, target, body, services }) => {
    const holder = toHolder(target);
    const writer = { em: tx.em, keyRing: services.keyRing, holder, setBy: principal.id };
    const wanted = body.variables.map((variable, index) => toNewVariable(variable, `variables[${index}].`));
    const { before, after } = await replaceVariables(writer, wanted, await readShownVariables(tx.em, holder));
    const isChanged = before.length + after.length > 0;
    const revision = isChanged ? await countChange(tx.em, target.set) : target.set.revision;
    const answer = { variables: (await readShownVariables(tx.em, holder)).map(viewVariable) };
    return {
      id: holder.id,
      revision,
      before: { variables: before.map(describeVariable) },
      after: { variables: after.map(describeVariable) },
      answer,
    };
  },
});

async function showAttachments(em: Em, context: ActionContext, target: VariableSetTarget) {
  const attachments = await readAttachments(em, target.set);
  return viewAttachments(attachments, target.set.revision, variableSetActions.describe(context, target));
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
