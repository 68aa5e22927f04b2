import { z } from 'zod';
import { operationPath } from '#api/pipeline/answers/location.ts';
import type { ReceiptAnswer } from '#api/pipeline/answers/receipt-answer.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import { pluginAdministration, pluginReading } from '#domain/plugins/authority.ts';
import { findInstallation } from '#domain/plugins/installations/store.ts';
import type { Selector } from '#domain/plugins/model.ts';
import { isOwnerInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { createResource, deleteResource, findRestorationObstacle } from '#domain/plugins/resources/resources.ts';
import { findResourceWithPlace, listResources } from '#domain/plugins/resources/store.ts';
import { requestRestoration } from '#domain/plugins/restorations/request.ts';
import { refuseByRegistry } from '#domain/plugins/restorations/steps.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { holdersOf } from '#domain/shared/tasks/limit-subject.ts';
import { ShareLimit } from '#domain/shared/tasks/share-limit.ts';
import { resourceActions } from './actions.ts';
import { CreateResource, ExpectedState } from './bodies.ts';
import { PluginParams } from './installation-operations.ts';
import { ListedResourceView, ResourceView, RestorationReceipt, viewResource } from './resource-views.ts';
import { PluginReceipt } from './views.ts';

export const list = readList({
  id: 'plugin_resources.list',
  route: 'GET /api/v1/plugin-resources',
  summary: 'List the resources of plugins that you may read',
  query: z.strictObject({
    ...pageQuery,
    installation_id: Id.optional(),
    team_id: Id.optional().describe('Only those of the team, its projects and their environments.'),
    type: z.string().max(100).optional(),
    deleted: Flag.optional().describe('`true`: only deleted ones, which can be restored.'),
  }),
  responses: { 200: pageOf('resources', ListedResourceView) },
  access: pluginReading,
  owners: { team: 'team_id' },
  handle: async ({ em, principal, query: { installation_id, team_id, type, deleted, ...request } }) => {
    const filter = { installationId: installation_id, teamId: team_id, type, isDeleted: deleted === 'true' };
    const page = await listResources(em, principal, { ...request, ...filter });
    return { resources: page.items.map(viewResource), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'plugin_resources.get',
  route: 'GET /api/v1/plugin-resources/:id',
  summary: 'Read a resource of a plugin, also a deleted one, with the owners that its commands have to name',
  params: PluginParams,
  responses: { 200: ResourceView },
  access: pluginReading,
  target: ({ em, params }) => findResourceWithPlace(em, params.id),
  targetName: 'plugin resource',
  handle: async ({ em, target, operations, principal }) => {
    const restorationRefusal = await findRestorationObstacle(em, target);
    const actions = resourceActions.describe({ operations, principal }, { ...target, restorationRefusal });
    return { ...viewResource(target.resource), actions };
  },
});

export const create = command({
  id: 'plugin_resources.create',
  route: 'POST /api/v1/plugin-resources',
  summary: 'Register a resource of a plugin for a team, a project or an environment',
  description:
    'The active release has to declare its type. The data is the business of the plugin: nothing of it is read or written.',
  body: CreateResource,
  responses: { 201: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, body, lock }) => {
    const owner = ownerIn(body);
    return owner ? findPresentPlace(em, owner, lock) : Promise.resolve(undefined);
  },
  targetName: 'owner',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_resource.created',
  handle: async ({ tx, principal, target: owner, body }) => {
    const { type, name, key, expected_ownership: expectedOwnership } = body;
    const target = await findInstallation(tx.em, body.installation_id, 'share');
    if (!target || !isOwnerInScope(target, owner))
      throw invalidField('installation_id', 'no such plugin is installed for the owner');
    const made = await createResource(tx, principal, target, owner, { type, name, key, expectedOwnership });
    return { ...made, after: { installation_id: body.installation_id, type, name } };
  },
});

export const remove = command({
  id: 'plugin_resources.delete',
  route: 'DELETE /api/v1/plugin-resources/:id',
  summary: 'Delete a resource of a plugin; it can be restored, and its assignments cannot',
  description: 'Only the registration is marked as deleted. The data of the plugin stays as it is.',
  params: PluginParams,
  body: ExpectedState,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findResourceWithPlace(em, params.id, lock),
  targetName: 'plugin resource',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_resource.deleted',
  handle: async ({ tx, target, body }) => {
    const { resource } = target;
    const revision = await deleteResource(tx, resource, target, {
      expectedRevision: body.expected_revision,
      expectedOwnership: body.expected_ownership,
    });
    return { id: resource.id, revision, members: { state: 'deleted' } as const, before: { name: resource.name } };
  },
});

/** Each restoration occupies a worker while it searches for roots. This limit keeps one caller from occupying all of them. */
const underWay = new ShareLimit({
  max: 4,
  refusal: 'you or this owner have four running restorations, and may not have more: wait until one has ended',
});

export const restore = command({
  id: 'plugin_resources.restore',
  route: 'POST /api/v1/plugin-resources/:id/restore',
  summary: 'Restore a deleted resource of a plugin under its id',
  description:
    'A workflow verifies that the owners of the resource are as they were, that the active release declares its type with the same SQL roots, and that each root has ' +
    'its row. A missing row answers 409. 503 with `outcome: unknown`: the end is not known after 30 seconds; read ' +
    '`GET /api/v1/commands/outcome`, which stays `not_observed` until the resource was restored, and `restoration` of the resource. Nothing else is ' +
    'restored: the data is the business of the plugin, and every assignment stays ended.',
  params: PluginParams,
  body: ExpectedState,
  responses: { 200: RestorationReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findResourceWithPlace(em, params.id, lock),
  targetName: 'plugin resource',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_resource.restored',
  isCarriedOutByPreparation: true,
  prepare: async ({ em, params, body, services, principal, target }, command) => {
    const expected = { expectedRevision: body.expected_revision, expectedOwnership: body.expected_ownership };
    await refuseByRegistry(em, params.id, expected);
    const answer = {
      status: 200,
      location: operationPath(get, params),
      read: { operation: get.id, params },
    } satisfies ReceiptAnswer;
    await underWay.run(holdersOf(principal, target), () =>
      requestRestoration(services, { command, resourceId: params.id, expected, answer }),
    );
  },
  handle: () => {
    // The workflow has stored its receipt in the transaction that restored the resource, and the answer is made from it.
    throw new Error('a resource was restored without a receipt');
  },
});

function ownerIn({ team_id, project_id, environment_id }: Partial<z.output<typeof CreateResource>>): Selector | null {
  if (environment_id !== undefined) return { type: 'environment', id: environment_id };
  if (project_id !== undefined) return { type: 'project', id: project_id };
  return team_id === undefined ? null : { type: 'team', id: team_id };
}
