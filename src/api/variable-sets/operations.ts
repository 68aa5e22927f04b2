import { z } from 'zod';
import { toProperties } from '#api/pipeline/fields.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { ownerParameters, ownerQuery, toOwnerIds } from '#api/pipeline/owned.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { ownedAccess } from '#api/tenancy/owned-access.ts';
import type { Em } from '#database/database.ts';
import { findRowOwner } from '#domain/owners/owner.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { findVariableSet, listVariableSets, readVariableSet } from '#domain/variable-sets/store.ts';
import { createVariableSet, deleteVariableSet, updateVariableSet } from '#domain/variable-sets/variable-sets.ts';
import { variableSetActions } from './actions.ts';
import { CreateVariableSet, UpdateVariableSet } from './bodies.ts';
import { ListedVariableSetView, VariableSetView, viewVariableSet } from './views.ts';

/** Who may do what with variable sets (docs/variable-sets.md). */
const { review, listAccess, readAccess, createAccess, writeAccess } = ownedAccess('variable_sets', {
  reads: ['environment:read'],
  changes: ['secret:manage'],
  ofInstallation: 'everybody',
});

const deleteAccess: Access = { ...writeAccess, review: { ...review, verb: 'delete' } };

export const VariableSetParams = z.strictObject({ id: Id });

/** The declarations shared by operations that read or change the content of a set. */
export const readsSet = {
  params: VariableSetParams,
  access: { ...readAccess, review: { inherits: 'variable_sets.get' } },
  target: ({ em, params }: { em: Em; params: { id: string } }) => findVariableSet(em, params.id),
  targetName: 'variable set',
} as const;

export const changesSet = {
  params: VariableSetParams,
  access: { ...writeAccess, review: { inherits: 'variable_sets.update' } },
  targetName: 'variable set',
  resourceId: ({ params }: { params: { id: string } }) => params.id,
  idempotency: 'none',
} as const;

export const list = readList({
  id: 'variable_sets.list',
  route: 'GET /api/v1/variable-sets',
  summary: 'List the variable sets that you may read',
  query: z.strictObject({
    ...pageQuery,
    ...ownerQuery,
    environment_id: Id.optional().describe(
      'Only sets that give this environment something: they are attached to it or to its project, and belong to an owner above it.',
    ),
  }),
  responses: { 200: pageOf('variable_sets', ListedVariableSetView) },
  access: listAccess,
  owners: { ...ownerParameters, environment: 'environment_id' },
  handle: async ({ em, principal, query }) => {
    const filter = { ...toOwnerIds(query), givenTo: query.environment_id };
    const page = await listVariableSets(em, principal, filter, query);
    return { variable_sets: page.items.map(viewVariableSet), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'variable_sets.get',
  route: 'GET /api/v1/variable-sets/:id',
  summary: 'Read a variable set',
  params: VariableSetParams,
  responses: { 200: VariableSetView },
  access: readAccess,
  target: ({ em, params }) => findVariableSet(em, params.id),
  targetName: 'variable set',
  handle: async ({ em, operations, principal, target }) => {
    const set = await readBack(readVariableSet(em, target.set.id));
    return { ...viewVariableSet(set), actions: variableSetActions.describe({ operations, principal }, target) };
  },
});

export const create = command({
  id: 'variable_sets.create',
  route: 'POST /api/v1/variable-sets',
  summary: 'Create an empty variable set of an organization, a team or a project',
  description:
    "Runs get its variables where it is attached. An environment attached to it comes before its project, of sets attached alike a project's " +
    "comes before its team's and that before its organization's, and then the one whose name comes first in the alphabet. The environment's own " +
    "variables come before those of all sets, and the run's own before everything.",
  body: CreateVariableSet,
  responses: { 201: VariableSetView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findRowOwner(em, toOwnerIds(body), lock),
  targetName: 'owner',
  idempotency: 'none',
  audit: 'variable_set.created',
  handle: async ({ tx, target, body }) => {
    const { name, description } = body;
    const { id, revision } = await createVariableSet(tx, target, { name, description });
    return { id, revision, after: { name, description } };
  },
});

export const update = command({
  id: 'variable_sets.update',
  route: 'PATCH /api/v1/variable-sets/:id',
  summary: 'Rename or describe a variable set; what is left out stays',
  params: VariableSetParams,
  body: UpdateVariableSet,
  responses: { 200: VariableSetView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  targetName: 'variable set',
  idempotency: 'none',
  audit: 'variable_set.updated',
  handle: async ({ tx, target, body }) => {
    const { before, after } = await updateVariableSet(tx, target, toProperties(body));
    return { id: target.set.id, revision: target.set.revision, before, after };
  },
});

export const remove = command({
  id: 'variable_sets.delete',
  route: 'DELETE /api/v1/variable-sets/:id',
  summary: 'Delete a variable set with its variables; runs that were admitted keep what it gave them',
  params: VariableSetParams,
  responses: { 204: Nothing },
  access: deleteAccess,
  target: ({ em, params, lock }) => findVariableSet(em, params.id, lock),
  targetName: 'variable set',
  idempotency: 'none',
  ifMatch: true,
  audit: 'variable_set.deleted',
  handle: async ({ tx, target, expectedRevision }) => {
    const { id, name, description } = target.set;
    const revision = await deleteVariableSet(tx, target, expectedRevision);
    return { id, before: { name, description }, revision };
  },
});
