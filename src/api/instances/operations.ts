import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { accessToWanted, findWantedTarget, requireAdmission } from '#api/runs/operations.ts';
import { OutputsView } from '#api/runs/views.ts';
import { createInstance, deleteInstance, unlockInstance } from '#domain/instances/instances.ts';
import { isPlannableAgain, listInstances, readInstance, readOutputs } from '#domain/instances/store.ts';
import { findInstance, findInstanceToChange } from '#domain/instances/targets.ts';
import { refuseDependents } from '#domain/runs/references/dependents.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { CreateInstance, DeleteInstance } from './bodies.ts';
import { InstanceView, ListedInstanceView, showInstance, toInstance } from './views.ts';

export const InstanceParams = z.strictObject({ id: Id });
/** An access review names an instance by its id. */
export const accessReview = { resource: 'instances', unscoped: true, parameter: 'id' } as const;
export const readAccess: Access = {
  anyOf: ['workload:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'get' },
};

export const list = readList({
  id: 'instances.list',
  route: 'GET /api/v1/instances',
  summary: 'List instances, newest first',
  query: z.strictObject({
    ...pageQuery,
    organization_id: Id.optional().describe("The instances of the organization's teams that you may read."),
    team_id: Id.optional(),
    environment_id: Id.optional(),
    template_id: Id.optional(),
    drifted: Flag.optional().describe('Only those that have drifted, or only those that have not.'),
    inputs_changed: Flag.optional().describe(
      'Only those whose inputs changed since their deployment, or only those whose inputs did not.',
    ),
    unrecorded: Flag.optional().describe(
      'Only those with `unrecorded_since`, which may hold more than is recorded, or only those without it.',
    ),
  }),
  responses: { 200: pageOf('instances', ListedInstanceView) },
  access: { ...readAccess, review: { resource: 'instances', verb: 'list', unscoped: true } },
  owners: { organization: 'organization_id', team: 'team_id', environment: 'environment_id' },
  handle: async ({ em, query, principal }) => {
    const { organization_id: organizationId, team_id: teamId } = query;
    const { environment_id: environmentId, template_id: templateId } = query;
    const [isDrifted, haveInputsChanged, isUnrecorded] = [query.drifted, query.inputs_changed, query.unrecorded].map(
      (flag) => flag && flag === 'true',
    );
    const filter = { organizationId, teamId, environmentId, templateId, isDrifted, haveInputsChanged, isUnrecorded };
    const page = await listInstances(em, principal, filter, query);
    return { instances: page.items.map(toInstance), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'instances.get',
  route: 'GET /api/v1/instances/:id',
  summary: 'Read an instance',
  params: InstanceParams,
  responses: { 200: InstanceView },
  access: readAccess,
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, target, operations, principal }) => {
    const instance = await readInstance(em, params.id);
    if (!instance) throw new NotFound('instance');
    const isPlannable = await isPlannableAgain(em, params.id);
    return showInstance({ operations, principal }, { ...target, ...instance, isPlannableAgain: isPlannable });
  },
});

const writeAccess: Access = {
  ...readAccess,
  anyOf: ['environment:write'],
  teamAction: 'team.metadata.write',
  installation: 'administrators',
};
const createAccess: Access = {
  ...writeAccess,
  review: { resource: 'instances', verb: 'create', unscoped: true },
};

export const create = command({
  id: 'instances.create',
  route: 'POST /api/v1/instances',
  summary: 'Make an instance without running anything, so that existing infrastructure can be adopted into it',
  description: 'A run makes the instance that it names by itself.',
  body: CreateInstance,
  responses: { 201: InstanceView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) =>
    findWantedTarget(em, { templateId: body.template_id, environmentId: body.environment_id }, lock),
  targetName: 'the template or the environment',
  accessTo: accessToWanted(createAccess),
  idempotency: 'none',
  audit: 'instance.created',
  handle: async ({ tx, body, target: wanted, principal }) => {
    const place = await requireAdmission(wanted, body.template_id, { em: tx.em, principal, access: createAccess });
    const { name, tool } = body;
    const id = await createInstance(tx, place, { name, tool });
    const { templateId, environmentId } = place;
    return { id, after: { name, templateId, environmentId, ...(tool && { tool }) }, revision: 1 };
  },
});

export const remove = command({
  id: 'instances.delete',
  route: 'DELETE /api/v1/instances/:id',
  summary: 'Delete an instance that holds nothing; its name is free again, and its runs stay',
  params: InstanceParams,
  body: DeleteInstance.prefault({}),
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...accessReview, verb: 'delete' } },
  target: findInstanceToChange,
  targetName: 'instance',
  idempotency: 'none',
  ifMatch: true,
  audit: 'instance.deleted',
  handle: async ({ tx, target, body, principal, expectedRevision, services }) => {
    await refuseDependents(tx.em, target.id, { principal, despiteDependents: body.despite_dependents });
    const revision = await deleteInstance(tx, services.keyRing, target, expectedRevision);
    return { id: target.id, before: { name: target.name }, revision };
  },
});

export const getOutputs = read({
  id: 'instances.get_outputs',
  route: 'GET /api/v1/instances/:id/outputs',
  summary: "Read an instance's outputs; secret ones are masked",
  params: InstanceParams,
  responses: { 200: z.object({ outputs: OutputsView }).meta({ id: 'InstanceOutputs' }) },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params }) => {
    const outputs = await readOutputs(em, params.id);
    if (!outputs) throw new NotFound('instance');
    return { outputs };
  },
});

export const unlock = command({
  id: 'instances.unlock',
  route: 'POST /api/v1/instances/:id/unlock',
  summary: 'Free an instance that is locked although nothing works on it',
  params: InstanceParams,
  responses: { 200: InstanceView },
  at: get,
  access: {
    ...readAccess,
    anyOf: ['run:cancel'],
    teamAction: 'team.metadata.write',
    installation: 'administrators',
    review: { ...accessReview, verb: 'unlock' },
  },
  target: findInstance,
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.unlocked',
  handle: async ({ tx, params, target }) => {
    await unlockInstance(tx, params.id, target);
    return { id: params.id };
  },
});
