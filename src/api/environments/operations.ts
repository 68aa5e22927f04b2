import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { foundById } from '#api/pipeline/joinable-target.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { archivingOperations } from '#api/tenancy/archiving-operations.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import type { Em } from '#database/database.ts';
import { createEnvironment, describeEnvironment, updateEnvironment } from '#domain/environments/environments.ts';
import {
  type EnvironmentTarget,
  findEnvironment,
  findEnvironmentToChange,
  listEnvironments,
} from '#domain/environments/store.ts';
import { findEnvironmentHold, findEnvironmentHolds } from '#domain/holds/environment-holds.ts';
import { findProject } from '#domain/projects/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { CreateEnvironment, toEnvironment, UpdateEnvironment } from './bodies.ts';
import {
  EnvironmentDetails,
  EnvironmentView,
  ListedEnvironmentView,
  showEnvironment,
  viewEnvironment,
  viewHold,
} from './views.ts';

export const EnvironmentParams = z.strictObject({ id: Id });

export const readAccess: Access = {
  anyOf: ['environment:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { resource: 'environments', verb: 'get', target: findEnvironment },
};
export const updateAccess: Access = {
  ...readAccess,
  anyOf: ['environment:write'],
  teamAction: 'team.metadata.write',
  review: { resource: 'environments', verb: 'update', target: findEnvironment },
};

export const list = readList({
  id: 'environments.list',
  route: 'GET /api/v1/environments',
  summary: 'List the environments that you may read',
  query: z.strictObject({
    ...pageQuery,
    ...archivedQuery,
    organization_id: Id.optional().describe("The environments of the organization's teams that you may read."),
    team_id: Id.optional(),
    project_id: Id.optional(),
  }),
  responses: { 200: pageOf('environments', ListedEnvironmentView) },
  access: { ...readAccess, review: { resource: 'environments', verb: 'list' } },
  owners: { organization: 'organization_id', team: 'team_id', project: 'project_id' },
  handle: async ({ em, principal, query }) => {
    const { organization_id: organizationId, team_id: teamId, project_id: projectId } = query;
    const filter = { ...withArchivedFilter(query), organizationId, teamId, projectId };
    const page = await listEnvironments(em, principal, filter);
    const holds = await findEnvironmentHolds(em, page.items);
    const environments = page.items.map((each, at) => ({
      ...viewEnvironment(each),
      hold: viewHold(holds[at] ?? null),
    }));
    return { environments, next_cursor: page.nextCursor };
  },
});

const environmentById = foundById(findEnvironment);

export const get = read({
  id: 'environments.get',
  route: 'GET /api/v1/environments/:id',
  summary: 'Read an environment',
  params: EnvironmentParams,
  responses: { 200: EnvironmentDetails },
  access: readAccess,
  target: environmentById,
  targetName: 'environment',
  handle: ({ em, target, operations, principal }) => showDetails(em, { operations, principal }, target),
});

export const create = command({
  id: 'environments.create',
  route: 'POST /api/v1/environments',
  summary: 'Create an environment of a project',
  body: CreateEnvironment,
  responses: { 201: EnvironmentDetails },
  at: get,
  access: { ...updateAccess, review: { resource: 'environments', verb: 'create' } },
  target: ({ em, body, lock }) => findProject(em, body.project_id, lock),
  targetName: 'project',
  idempotency: 'none',
  audit: 'environment.created',
  handle: async ({ tx, target, body, operations, principal }) => {
    const context = { operations, principal };
    const environment = await createEnvironment(tx.em, principal, target, toEnvironment(body));
    const answer = await showDetails(tx.em, context, environment);
    const { id, revision } = environment;
    return { id, revision, after: describeEnvironment(environment), answer };
  },
});

export const update = command({
  id: 'environments.update',
  route: 'PATCH /api/v1/environments/:id',
  summary: 'Change an environment; absent fields stay as they are',
  params: EnvironmentParams,
  body: UpdateEnvironment,
  responses: { 200: EnvironmentView },
  access: updateAccess,
  target: ({ em, params, lock }) => findEnvironmentToChange(em, params.id, lock),
  targetName: 'environment',
  idempotency: 'none',
  audit: 'environment.updated',
  handle: async ({ tx, target, body, operations, principal }) => {
    const { updated, difference } = await updateEnvironment(tx, principal, target, toEnvironment(body));
    const { before, after } = difference;
    const { id, revision } = updated;
    const answer = await showEnvironment(tx.em, { operations, principal }, updated);
    return { id, revision, before, after, answer };
  },
});

export const { archive, unarchive, remove } = archivingOperations({
  level: 'environment',
  path: '/api/v1/environments/:id',
  params: EnvironmentParams,
  view: EnvironmentView,
  show: showEnvironment,
  summaries: {
    archive: 'Archive an environment: it takes nothing new, and no run starts in it',
    unarchive: 'Take an environment out of the archive',
    delete: 'Delete an environment in which nothing is deployed, with its variables',
  },
  access: {
    archive: { ...updateAccess, review: { inherits: 'environments.update' } },
    unarchive: { ...updateAccess, review: { inherits: 'environments.update' } },
    delete: { ...updateAccess, review: { resource: 'environments', verb: 'delete', target: findEnvironment } },
  },
  find: findEnvironment,
  findToChange: (em, { id }, lock) => findEnvironmentToChange(em, id, lock),
});

/** A single environment, with what keeps its applies from starting. */
async function showDetails(em: Em, context: ActionContext, environment: EnvironmentTarget) {
  const [shown, hold] = await Promise.all([
    showEnvironment(em, context, environment),
    findEnvironmentHold(em, environment),
  ]);
  return { ...shown, hold: viewHold(hold) };
}
