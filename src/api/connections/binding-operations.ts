import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import type { RequestMetadata } from '#api/pipeline/call.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { type BindingTarget, replaceBindings } from '#domain/connections/bindings/bind.ts';
import { bindingAuthority } from '#domain/connections/bindings/model.ts';
import { findEnvironment, findEnvironmentToChange } from '#domain/environments/store.ts';
import { findProject, findProjectToChange } from '#domain/projects/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Id } from '#domain/shared/ids.ts';
import { BindConnections, revisionOfBindings, toWanted } from './binding-bodies.ts';
import { BindingsView, showBindings } from './binding-views.ts';

/** Operations on the bindings that give connections to the runs of projects and environments. */

const params = z.strictObject({ id: Id });
const description =
  'Templates ask for connections by name and kind. The binding of an environment takes the place of its project’s of the same name. Whoever replaces the ' +
  'bindings has bound all of them: runs get a connection only while that person or account may still bind it. What a read answers ' +
  'may be sent back: it is refused if other connections were bound meanwhile. Send bindings by name alone with the `revision` in `If-Match`. The same bindings by the same person change nothing.';

interface Replacement extends ActionContext {
  readonly tx: Transaction;
  readonly target: BindingTarget;
  readonly body: z.output<typeof BindConnections>;
  readonly request: RequestMetadata;
}

async function replace({ tx, target, body, principal, operations, request }: Replacement) {
  const expected = revisionOfBindings(body, request.headers);
  const { before, after, revision } = await replaceBindings(tx, principal, target, toWanted(body), expected);
  const answer = await showBindings(tx.em, { operations, principal }, target, revision);
  const compared = { before: { connections: before }, after: { connections: after } };
  return { id: target.id, revision, ...comparedIf(revision !== target.revision, compared), answer };
}

export const getOfProject = read({
  id: 'project_connections.get',
  route: 'GET /api/v1/projects/:id/connections',
  summary: 'Read which connections a project gives its runs',
  params,
  responses: { 200: BindingsView },
  access: {
    anyOf: ['project:read'],
    scope: 'team',
    teamAction: 'team.metadata.read',
    hidden: 'not_found',
    review: { inherits: 'projects.get' },
  },
  target: ({ em, params: { id } }) => findProject(em, id),
  targetName: 'project',
  handle: ({ em, target, operations, principal }) => showBindings(em, { operations, principal }, target),
});

export const replaceOfProject = command({
  id: 'project_connections.replace',
  route: 'PUT /api/v1/projects/:id/connections',
  summary: 'Give the runs of a project these connections, and no others',
  description,
  params,
  body: BindConnections,
  responses: { 200: BindingsView },
  access: { ...bindingAuthority('project'), review: { resource: 'projects', verb: 'bind_connections' } },
  target: ({ em, params: { id }, lock }) => findProjectToChange(em, id, lock),
  targetName: 'project',
  resourceId: ({ params }) => params.id,
  idempotency: 'none',
  ifMatch: true,
  audit: 'project.connections_bound',
  handle: replace,
});

export const getOfEnvironment = read({
  id: 'environment_connections.get',
  route: 'GET /api/v1/environments/:id/connections',
  summary: 'Read which connections an environment gives its runs, beside those of its project',
  params,
  responses: { 200: BindingsView },
  access: {
    anyOf: ['environment:read'],
    scope: 'team',
    teamAction: 'team.metadata.read',
    hidden: 'not_found',
    review: { inherits: 'environments.get' },
  },
  target: ({ em, params: { id } }) => findEnvironment(em, id),
  targetName: 'environment',
  handle: ({ em, target, operations, principal }) => showBindings(em, { operations, principal }, target),
});

export const replaceOfEnvironment = command({
  id: 'environment_connections.replace',
  route: 'PUT /api/v1/environments/:id/connections',
  summary: 'Give the runs of an environment these connections, and no others of its own',
  description,
  params,
  body: BindConnections,
  responses: { 200: BindingsView },
  access: { ...bindingAuthority('environment'), review: { resource: 'environments', verb: 'bind_connections' } },
  target: ({ em, params: { id }, lock }) => findEnvironmentToChange(em, id, lock),
  targetName: 'environment',
  resourceId: ({ params }) => params.id,
  idempotency: 'none',
  ifMatch: true,
  audit: 'environment.connections_bound',
  handle: replace,
});
