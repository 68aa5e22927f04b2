import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { foundById } from '#api/pipeline/joinable-target.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { archivingOperations } from '#api/tenancy/archiving-operations.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import type { Em } from '#database/database.ts';
import { projectFields } from '#domain/projects/model.ts';
import { createProject, updateProject } from '#domain/projects/projects.ts';
import { findProject, findProjectToChange, listProjects, type ProjectTarget } from '#domain/projects/store.ts';
import { findProjectTransfer, transferProject } from '#domain/projects/transfer.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { pick } from '#domain/shared/revisions.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { CreateProject, TransferProject, UpdateProject } from './bodies.ts';
import { ListedProjectView, ProjectView, showProject, viewProject } from './views.ts';

const ProjectParams = z.strictObject({ id: Id });

const readAccess: Access = {
  anyOf: ['project:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { resource: 'projects', verb: 'get', target: findProject },
};
const updateAccess: Access = {
  ...readAccess,
  anyOf: ['project:write'],
  teamAction: 'team.metadata.write',
  review: { resource: 'projects', verb: 'update', target: findProject },
};
/**
 * The team that receives a project controls the approval policies and the secrets of its environments. A transfer therefore requires the
 * same access as deleting the team. An admin of the team does not have it, because an admin may not weaken those policies either.
 */
const transferAccess: Access = {
  ...updateAccess,
  teamAction: ['team.metadata.write', 'team.delete'],
  review: { resource: 'projects', verb: 'transfer', target: findProject },
};

export const list = readList({
  id: 'projects.list',
  route: 'GET /api/v1/projects',
  summary: 'List the projects that you may read',
  query: z.strictObject({
    ...pageQuery,
    ...archivedQuery,
    team_id: Id.optional(),
    organization_id: Id.optional().describe("The projects of the organization's teams that you may read."),
  }),
  responses: { 200: pageOf('projects', ListedProjectView) },
  access: { ...readAccess, review: { resource: 'projects', verb: 'list' } },
  owners: { team: 'team_id', organization: 'organization_id' },
  handle: async ({ em, principal, query }) => {
    const filter = { ...withArchivedFilter(query), teamId: query.team_id, organizationId: query.organization_id };
    const page = await listProjects(em, principal, filter);
    return { projects: page.items.map(viewProject), next_cursor: page.nextCursor };
  },
});

const projectById = foundById(findProject);

export const get = read({
  id: 'projects.get',
  route: 'GET /api/v1/projects/:id',
  summary: 'Read a project',
  params: ProjectParams,
  responses: { 200: ProjectView },
  access: readAccess,
  target: projectById,
  targetName: 'project',
  handle: async ({ em, target, operations, principal }) => showProject(em, { operations, principal }, target),
});

export const create = command({
  id: 'projects.create',
  route: 'POST /api/v1/projects',
  summary: 'Create a project of a team',
  body: CreateProject,
  responses: { 201: ProjectView },
  at: get,
  access: { ...updateAccess, review: { resource: 'projects', verb: 'create' } },
  target: ({ em, body, lock }) => findTeamById(em, body.team_id, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'project.created',
  handle: async ({ tx, target, body, operations, principal }) => {
    const project = await createProject(tx.em, target, toProperties(body));
    return { ...(await changeOf(tx.em, { operations, principal }, project)), after: pick(project, projectFields) };
  },
});

export const update = command({
  id: 'projects.update',
  route: 'PATCH /api/v1/projects/:id',
  summary: 'Change the name, slug or description of a project; absent fields stay as they are',
  params: ProjectParams,
  body: UpdateProject,
  responses: { 200: ProjectView },
  access: updateAccess,
  target: ({ em, params, lock }) => findProjectToChange(em, params.id, lock),
  targetName: 'project',
  idempotency: 'none',
  audit: 'project.updated',
  handle: async ({ tx, target, body, operations, principal }) => {
    const { updated, difference } = await updateProject(tx.em, target, toProperties(body));
    const { before, after } = difference;
    return { ...(await changeOf(tx.em, { operations, principal }, updated)), before, after };
  },
});

export const { archive, unarchive, remove } = archivingOperations({
  level: 'project',
  path: '/api/v1/projects/:id',
  params: ProjectParams,
  view: ProjectView,
  show: showProject,
  summaries: {
    archive: 'Archive a project: it takes nothing new, and no run starts in it',
    unarchive: 'Take a project out of the archive',
    delete: 'Delete a project that has no environments; its slug is free again',
  },
  access: {
    archive: { ...updateAccess, review: { inherits: 'projects.update' } },
    unarchive: { ...updateAccess, review: { inherits: 'projects.update' } },
    delete: { ...updateAccess, review: { resource: 'projects', verb: 'delete', target: findProject } },
  },
  find: findProject,
  findToChange: (em, { id }, lock) => findProjectToChange(em, id, lock),
});

export const transfer = command({
  id: 'projects.transfer',
  route: 'POST /api/v1/projects/:id/transfer',
  summary: 'Move a project to another team, with its environments, their instances and their runs',
  description:
    'You must own its present team and be able to change projects of the other team. To move it to another organization, you ' +
    'must also be an owner or admin of the present one.',
  params: ProjectParams,
  body: TransferProject,
  responses: { 200: ProjectView },
  access: transferAccess,
  target: ({ em, params, body, lock }) => findProjectTransfer(em, { id: params.id, to: body.team_id }, lock),
  targetName: 'project',
  idempotency: 'none',
  audit: 'project.transferred',
  handle: async ({ tx, principal, target, body, operations }) => {
    const transferred = await transferProject(tx, principal, target, { expectedRevision: body.expected_revision });
    const [before, after] = [target, transferred].map(({ organizationId, teamId }) => ({ organizationId, teamId }));
    return {
      ...(await changeOf(tx.em, { operations, principal }, transferred)),
      owners: transferred,
      formerOwners: target,
      before,
      after,
    };
  },
});

async function changeOf(em: Em, context: ActionContext, project: ProjectTarget) {
  return { id: project.id, revision: project.revision, answer: await showProject(em, context, project) };
}
