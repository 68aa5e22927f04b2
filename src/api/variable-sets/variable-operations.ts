import { z } from 'zod';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { revisionFor } from '#api/pipeline/headers/if-match.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import {
  ReplaceVariablesOfSet,
  SetVariable,
  toNamedVariable,
  toNewVariable,
  VariableName,
} from '#api/variables/bodies.ts';
import { describeVariable, VariableView, viewVariable } from '#api/variables/views.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { findVariableSet, type VariableSetTarget } from '#domain/variable-sets/store.ts';
import { removeVariable, replaceVariables, setVariable } from '#domain/variables/changes.ts';
import { findVariable, listVariables, readShownVariables } from '#domain/variables/store.ts';
import { changesSet, readsSet, VariableSetParams } from './operations.ts';
import { showVariableOfSet, VariableOfSetView } from './views.ts';

/** Operations on the variables of a set. */

const SetRevision = z.int().describe('Of the set. It rises with every change of its variables.');

const VariableParams = VariableSetParams.extend({ name: VariableName });

function toHolder({ set, archived }: VariableSetTarget) {
  return { kind: 'variable_set', id: set.id, archived, variablesRevision: set.revision } as const;
}

export const list = read({
  ...readsSet,
  id: 'variable_set_variables.list',
  route: 'GET /api/v1/variable-sets/:id/variables',
  summary: 'List the variables of a set by name; sensitive ones without their values',
  query: z.strictObject(pageQuery),
  responses: {
    200: pageOf('variables', VariableView).extend({ revision: SetRevision }).meta({ id: 'VariableSetVariablePage' }),
  },
  handle: async ({ em, target, query }) => {
    const page = await listVariables(em, toHolder(target), query);
    const { revision } = target.set;
    return { variables: page.items.map(viewVariable), next_cursor: page.nextCursor, revision };
  },
});

export const get = read({
  ...readsSet,
  id: 'variable_set_variables.get',
  route: 'GET /api/v1/variable-sets/:id/variables/:name',
  summary: 'Read a variable of a set; a sensitive one without its value',
  params: VariableParams,
  responses: { 200: VariableOfSetView },
  handle: async ({ em, target, params, operations, principal }) => {
    const variable = await findVariable(em, toHolder(target), params.name);
    if (!variable) throw new NotFound('variable');
    return showVariableOfSet(em, { operations, principal }, target, variable);
  },
});

export const set = command({
  ...changesSet,
  id: 'variable_set_variables.set',
  route: 'PUT /api/v1/variable-sets/:id/variables/:name',
  summary: 'Set one variable of a set; the others stay',
  description: "It means what a variable of an environment means. A sensitive variable's value that is left out stays.",
  params: VariableParams,
  body: SetVariable,
  responses: { 200: VariableOfSetView },
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  audit: 'variable_set.variable_set',
  handle: async ({ tx, principal, target, params, body, services, operations, request }) => {
    const holder = toHolder(target);
    const writer = { em: tx.em, keyRing: services.keyRing, holder, setBy: principal.id };
    const before = await findVariable(tx.em, holder, params.name);
    const wanted = toNamedVariable(params.name, body, request.headers);
    const { variable: after, holderRevision: revision } = await setVariable(writer, wanted, before);
    return {
      id: holder.id,
      revision,
      before: before && describeVariable(before),
      after: { ...describeVariable(after), value: 'set' },
      answer: await showVariableOfSet(tx.em, { operations, principal }, target, after),
    };
  },
});

export const replace = command({
  ...changesSet,
  id: 'variable_set_variables.replace',
  route: 'PUT /api/v1/variable-sets/:id/variables',
  summary: 'Replace all variables of a set at once',
  description:
    'Variables that the request does not name are removed, and those that stay the same keep their revision. A sensitive variable ' +
    'whose value is left out or null keeps it. The list may be sent back as it was read: it is refused if another request added, changed or removed ' +
    'a variable meanwhile. Without any revision, the last request wins.',
  body: ReplaceVariablesOfSet,
  responses: {
    200: z.object({ variables: z.array(VariableView), revision: SetRevision }).meta({ id: 'VariableSetVariables' }),
  },
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  audit: 'variable_set.variables_replaced',
  handle: async ({ tx, principal, target, body, services, request }) => {
    const holder = toHolder(target);
    const writer = { em: tx.em, keyRing: services.keyRing, holder, setBy: principal.id };
    refuseStale(target.set, revisionFor(body, request.headers));
    const wanted = body.variables.map((variable, index) => toNewVariable(variable, `variables[${index}].`));
    const current = await readShownVariables(tx.em, holder);
    const { before, after, holderRevision: revision } = await replaceVariables(writer, wanted, current);
    const answer = { variables: (await readShownVariables(tx.em, holder)).map(viewVariable), revision };
    const compared = {
      before: { variables: before.map(describeVariable) },
      after: { variables: after.map(describeVariable) },
    };
    return { id: holder.id, revision, ...comparedIf(before.length + after.length > 0, compared), answer };
  },
});

export const remove = command({
  ...changesSet,
  id: 'variable_set_variables.remove',
  route: 'DELETE /api/v1/variable-sets/:id/variables/:name',
  summary: 'Remove a variable from a set',
  params: VariableParams,
  responses: { 204: Nothing },
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  ifMatch: true,
  audit: 'variable_set.variable_removed',
  handle: async ({ tx, target, params, expectedRevision }) => {
    const holder = toHolder(target);
    const variable = await findVariable(tx.em, holder, params.name);
    const removed = await removeVariable(tx.em, holder, variable, expectedRevision);
    const revision = removed.holderRevision;
    return { id: holder.id, before: describeVariable(removed.variable), after: { name: params.name }, revision };
  },
});
