import { z } from 'zod';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { revisionFor } from '#api/pipeline/headers/if-match.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { ReplaceVariables, SetVariable, toNamedVariable, toNewVariable, VariableName } from '#api/variables/bodies.ts';
import { describeVariable, VariableView, viewVariable } from '#api/variables/views.ts';
import type { Em } from '#database/database.ts';
import { type EnvironmentTarget, findEnvironment, findEnvironmentToChange } from '#domain/environments/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { concernsSecret, removeVariable, replaceVariables, setVariable } from '#domain/variables/changes.ts';
import { findVariable, listVariables, readShownVariables, type ShownVariable } from '#domain/variables/store.ts';
import { showVariable, VariableDetailsView, type VariableFacts } from './views.ts';

/** The revision of all variables together. */
const VariablesRevision = z.int().describe('Of all variables of the environment. It rises with every change of one.');

const VariableParams = z.strictObject({ id: Id, name: VariableName });

const readAccess: Access = {
  anyOf: ['environment:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { inherits: 'environments.get' },
};

/** Everything that changes of variables may require. `accessTo` narrows it to what a particular variable requires. */
const changeAccess: Access = {
  anyOf: ['environment:write', 'secret:manage'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: {
    resource: 'environments',
    verb: 'manage_variables',
    parameter: 'id',
    // "Allowed" covers sensitive variables too.
    target: async (em, id) => withSecret(await findEnvironment(em, id)),
  },
};

interface VariableTarget extends VariableFacts {
  readonly before: ShownVariable | undefined;
}

function toHolder({ id, archived, variablesRevision }: EnvironmentTarget) {
  return { kind: 'environment', id, archived, variablesRevision } as const;
}

function withSecret(environment: EnvironmentTarget | undefined): VariableTarget | undefined {
  return environment && { ...environment, before: undefined, concernsSecret: true };
}

/** The environment, and the current variable. Making a sensitive variable plain, or the reverse, changes a secret. */
async function findTarget(
  em: Em,
  { id, name }: z.output<typeof VariableParams>,
  sensitive: boolean,
  lock: boolean,
): Promise<VariableTarget | undefined> {
  const environment = await findEnvironmentToChange(em, id, lock);
  if (!environment) return undefined;
  const before = await findVariable(em, { kind: 'environment', id }, name);
  return { ...environment, before, concernsSecret: sensitive || before?.sensitive === true };
}

function wantedOf({ variables }: z.output<typeof ReplaceVariables>) {
  return variables.map((variable, index) => toNewVariable(variable, `variables[${index}].`));
}

/** The environment with all of its variables. An access review has no body, and assumes that sensitive variables change. */
async function findAll(
  em: Em,
  id: string,
  body: Partial<z.output<typeof ReplaceVariables>>,
  lock: boolean,
): Promise<(VariableTarget & { readonly current: ShownVariable[] }) | undefined> {
  const environment = await findEnvironmentToChange(em, id, lock);
  if (!environment) return undefined;
  const current = await readShownVariables(em, { kind: 'environment', id });
  const { variables } = body;
  const concerns = variables === undefined || concernsSecret(wantedOf({ variables }), current);
  return { ...environment, before: undefined, current, concernsSecret: concerns };
}

/** Setting, replacing or removing a sensitive variable requires the permission to manage secrets. */
function accessTo({ concernsSecret }: VariableTarget): Access {
  return concernsSecret
    ? { ...changeAccess, anyOf: ['secret:manage'], teamAction: ['team.secret.read', 'team.metadata.write'] }
    : { ...changeAccess, anyOf: ['environment:write'] };
}

export const list = read({
  id: 'environment_variables.list',
  route: 'GET /api/v1/environments/:id/variables',
  summary: "List an environment's variables by name; sensitive ones without their values",
  params: z.strictObject({ id: Id }),
  query: z.strictObject(pageQuery),
  responses: {
    200: pageOf('variables', VariableView)
      .extend({ revision: VariablesRevision })
      .meta({ id: 'EnvironmentVariablePage' }),
  },
  access: readAccess,
  target: ({ em, params }) => findEnvironment(em, params.id),
  targetName: 'environment',
  resourceId: ({ params }) => params.id,
  handle: async ({ em, target, query }) => {
    const page = await listVariables(em, toHolder(target), query);
    const { variablesRevision: revision } = target;
    return { variables: page.items.map(viewVariable), next_cursor: page.nextCursor, revision };
  },
});

export const get = read({
  id: 'environment_variables.get',
  route: 'GET /api/v1/environments/:id/variables/:name',
  summary: 'Read a variable; a sensitive one without its value',
  params: VariableParams,
  responses: { 200: VariableDetailsView },
  access: readAccess,
  target: ({ em, params }) => findEnvironment(em, params.id),
  targetName: 'environment',
  resourceId: ({ params }) => params.id,
  handle: async ({ em, target, params, operations, principal }) => {
    const variable = await findVariable(em, toHolder(target), params.name);
    if (!variable) throw new NotFound('variable');
    return showVariable(em, { operations, principal }, target, variable);
  },
});

export const set = command({
  id: 'environment_variables.set',
  route: 'PUT /api/v1/environments/:id/variables/:name',
  summary: 'Set a variable that the runs of an environment get',
  description:
    'Category `template`: a default for the template variable of that name. Category `env`: an environment variable of the ' +
    "run's tools, which must be text and must not have a reserved name (COORDINATOR_*, LD_*, PATH, HOME, TF_* but TF_TOKEN_*, …).",
  params: VariableParams,
  body: SetVariable,
  responses: { 200: VariableDetailsView },
  access: changeAccess,
  target: ({ em, params, body, lock }) => findTarget(em, params, body.sensitive, lock),
  targetName: 'environment',
  accessTo,
  // Variables have no ids, so a record has the id of their environment.
  resourceId: ({ params }) => params.id,
  idempotency: 'none',
  audit: 'environment_variable.set',
  handle: async ({ tx, principal, target, params, body, services, operations, request }) => {
    const { before } = target;
    const writer = { em: tx.em, keyRing: services.keyRing, holder: toHolder(target), setBy: principal.id };
    const { variable } = await setVariable(writer, toNamedVariable(params.name, body, request.headers), before);
    const { revision } = variable;
    const [was, after] = [before && describeVariable(before), { ...describeVariable(variable), value: 'set' }];
    const answer = await showVariable(tx.em, { operations, principal }, target, variable);
    return { id: target.id, before: was, after, revision, answer };
  },
});

export const replace = command({
  id: 'environment_variables.replace',
  route: 'PUT /api/v1/environments/:id/variables',
  summary: 'Replace all variables of an environment at once',
  description:
    'Variables that the request does not name are removed, and those that stay the same keep their revision. A sensitive variable ' +
    'whose value is left out or null keeps it, so that changing the others does not require knowing a secret. The list may be sent ' +
    'back as it was read: it is refused if another request added, changed or removed a variable meanwhile. Without any revision, the last request wins. Changing, adding or ' +
    'removing a sensitive variable takes the right to manage secrets.',
  params: z.strictObject({ id: Id }),
  body: ReplaceVariables,
  responses: {
    200: z
      .object({ variables: z.array(VariableView), revision: VariablesRevision })
      .meta({ id: 'EnvironmentVariables' }),
  },
  access: { ...changeAccess, review: { inherits: 'environment_variables.set' } },
  target: ({ em, params, body, lock }) => findAll(em, params.id, body, lock),
  targetName: 'environment',
  accessTo,
  resourceId: ({ params }) => params.id,
  idempotency: 'none',
  audit: 'environment_variables.replaced',
  handle: async ({ tx, principal, target, body, services, request }) => {
    const writer = { em: tx.em, keyRing: services.keyRing, holder: toHolder(target), setBy: principal.id };
    refuseStale({ revision: target.variablesRevision }, revisionFor(body, request.headers));
    const { before, after, holderRevision: revision } = await replaceVariables(writer, wantedOf(body), target.current);
    const answer = { variables: (await readShownVariables(tx.em, toHolder(target))).map(viewVariable), revision };
    const compared = {
      before: { variables: before.map(describeVariable) },
      after: { variables: after.map(describeVariable) },
    };
    return { id: target.id, revision, ...comparedIf(before.length + after.length > 0, compared), answer };
  },
});

export const remove = command({
  id: 'environment_variables.remove',
  route: 'DELETE /api/v1/environments/:id/variables/:name',
  summary: 'Remove a variable',
  params: VariableParams,
  responses: { 204: Nothing },
  access: { ...changeAccess, review: { inherits: 'environment_variables.set' } },
  target: ({ em, params, lock }) => findTarget(em, params, false, lock),
  targetName: 'environment',
  accessTo,
  resourceId: ({ params }) => params.id,
  ifMatch: true,
  idempotency: 'none',
  audit: 'environment_variable.removed',
  handle: async ({ tx, target, params, expectedRevision }) => {
    const expected = expectedRevision;
    const { variable } = await removeVariable(tx.em, toHolder(target), target.before, expected);
    return { id: target.id, before: describeVariable(variable), after: { name: params.name } };
  },
});
