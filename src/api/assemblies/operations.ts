import { z } from 'zod';
import { changeOf, changeSince } from '#api/pipeline/audit/unchanged.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import {
  archiveAssembly,
  createAssembly,
  deleteAssembly,
  unarchiveAssembly,
  updateAssembly,
} from '#domain/assemblies/assemblies.ts';
import { listAssemblies } from '#domain/assemblies/list-store.ts';
import { assemblyFields } from '#domain/assemblies/model.ts';
import { type AssemblyTarget, findAssembly, findAssemblyToChange } from '#domain/assemblies/store.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { pick, refuseStale } from '#domain/shared/revisions.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { accessReview, createAccess, listAccess, readAccess, writeAccess } from './access.ts';
import { showAssembly } from './actions.ts';
import { CreateAssembly, UpdateAssembly } from './bodies.ts';
import { AssemblyView, ListedAssemblyView, viewListed } from './views.ts';

export const AssemblyParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'assemblies.list',
  route: 'GET /api/v1/assemblies',
  summary: 'List the assemblies that you may read',
  query: z.strictObject({
    ...pageQuery,
    team_id: Id.optional(),
    organization_id: Id.optional().describe("The assemblies of the organization's teams that you may read."),
    environment_id: Id.optional().describe('Only assemblies that were run in this environment.'),
    q: z.string().max(100).optional().describe('Text in the name, the slug or the description, in any case.'),
    ...archivedQuery,
  }),
  responses: { 200: pageOf('assemblies', ListedAssemblyView) },
  access: listAccess,
  owners: { organization: 'organization_id', team: 'team_id', environment: 'environment_id' },
  isCostly: ({ q: text }) => text !== undefined,
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, organization_id: organizationId, environment_id: environmentId, q: search } = query;
    const filter = { teamId, organizationId, environmentId, search, archived: withArchivedFilter(query).archived };
    const page = await listAssemblies(em, principal, filter, query);
    return { assemblies: page.items.map(viewListed), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'assemblies.get',
  route: 'GET /api/v1/assemblies/:id',
  summary: 'Read an assembly',
  params: AssemblyParams,
  responses: { 200: AssemblyView },
  access: readAccess,
  target: ({ em, params }) => findAssembly(em, params.id),
  targetName: 'assembly',
  handle: ({ em, operations, principal, target }) => showAssembly({ em, operations, principal }, target),
});

export const create = command({
  id: 'assemblies.create',
  route: 'POST /api/v1/assemblies',
  summary: 'Create an assembly; its draft is saved and published on its own',
  body: CreateAssembly,
  responses: { 201: AssemblyView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findTeamById(em, body.team_id, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'assembly.created',
  handle: async ({ tx, target, body }) => {
    const assembly = await createAssembly(tx, target, toProperties(body));
    return { ...changeOf(assembly), after: describeAssembly(assembly) };
  },
});

export const update = command({
  id: 'assemblies.update',
  route: 'PATCH /api/v1/assemblies/:id',
  summary: 'Change an assembly; what is left out stays',
  params: AssemblyParams,
  body: UpdateAssembly,
  responses: { 200: AssemblyView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  audit: 'assembly.updated',
  handle: async ({ tx, target, body }) => {
    const { revision } = target.assembly;
    const before = describeAssembly(target.assembly);
    await updateAssembly(tx, target, toProperties(body));
    return changeSince(revision, target.assembly, { before, after: describeAssembly(target.assembly) });
  },
});

export const archive = command({
  id: 'assemblies.archive',
  route: 'POST /api/v1/assemblies/:id/archive',
  summary: 'Archive an assembly: it takes no changes, no new versions and no new runs',
  params: AssemblyParams,
  responses: { 200: AssemblyView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'assemblies.update' } },
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  ifMatch: true,
  audit: 'assembly.archived',
  handle: async ({ tx, target, expectedRevision }) => {
    refuseStale(target.assembly, expectedRevision);
    const { revision } = target.assembly;
    await archiveAssembly(tx, target);
    return changeSince(revision, target.assembly, { after: {} });
  },
});

export const unarchive = command({
  id: 'assemblies.unarchive',
  route: 'POST /api/v1/assemblies/:id/unarchive',
  summary: 'Make an archived assembly active again',
  params: AssemblyParams,
  responses: { 200: AssemblyView },
  at: get,
  access: { ...writeAccess, review: { inherits: 'assemblies.update' } },
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  ifMatch: true,
  audit: 'assembly.unarchived',
  handle: async ({ tx, target, expectedRevision }) => {
    refuseStale(target.assembly, expectedRevision);
    const { revision } = target.assembly;
    await unarchiveAssembly(tx, target);
    return changeSince(revision, target.assembly, { after: {} });
  },
});

export const remove = command({
  id: 'assemblies.delete',
  route: 'DELETE /api/v1/assemblies/:id',
  summary: 'Delete an assembly that no unfinished run uses; its slug is free again, and its runs stay',
  params: AssemblyParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...accessReview, verb: 'delete' } },
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  ifMatch: true,
  audit: 'assembly.deleted',
  handle: async ({ tx, principal, target, expectedRevision }) => {
    const { id, name, slug } = target.assembly;
    const revision = await deleteAssembly(tx, principal, target, expectedRevision);
    return { id, before: { name, slug }, revision };
  },
});

type Assembly = AssemblyTarget['assembly'];

function describeAssembly(assembly: Assembly) {
  return pick(assembly, assemblyFields);
}
