import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { listInstanceResources, listResources } from '#domain/instances/resources/resource-list-store.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { accessReview, InstanceParams, readAccess } from './operations.ts';
import { ResourceView, toResource } from './views.ts';

const meaning =
  'A resource is one object that a tool manages: each instance of `count` and `for_each` is one, and data sources are none. The ' +
  'attributes, which may be secrets, are only in the state. What a command has deployed is one resource of the type `command`, ' +
  'and what an encrypted state holds is one of the type `encrypted_state`.';

export const listOfInstance = read({
  id: 'instances.list_resources',
  route: 'GET /api/v1/instances/:id/resources',
  summary: 'List the resources that an instance holds, as its latest state says',
  description: `The list has as many resources as \`resource_count\` of the instance says. ${meaning}`,
  params: InstanceParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('resources', ResourceView) },
  access: { ...readAccess, installation: 'administrators', review: { ...accessReview, verb: 'list_resources' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, query }) => {
    const page = await listInstanceResources(em, params.id, query);
    return { resources: page.items.map(toResource), next_cursor: page.nextCursor };
  },
});

export const list = readList({
  id: 'resources.list',
  route: 'GET /api/v1/resources',
  summary: 'List the resources that you may read, of all instances, those of the latest deployments first',
  description:
    'These are the resources of your teams, of the organizations that you administer, and of the instances without a team that ' +
    `you alone have used. Administrators read all. ${meaning}`,
  query: z.strictObject({
    ...pageQuery,
    team_id: Id.optional(),
    organization_id: Id.optional().describe("The resources of the organization's teams that you may read."),
    environment_id: Id.optional(),
    type: z.string().min(1).max(255).optional().describe('The type of the resource, such as `aws_subnet`.'),
    q: z.string().min(1).max(200).optional().describe('Text in the address, in any case.'),
  }),
  responses: { 200: pageOf('resources', ResourceView) },
  access: { ...readAccess, review: { resource: 'resources', verb: 'list', unscoped: true } },
  owners: { organization: 'organization_id', team: 'team_id', environment: 'environment_id' },
  isCostly: ({ q: text }) => text !== undefined,
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, organization_id: organizationId, environment_id: environmentId, type, q: text } = query;
    const page = await listResources(em, principal, { teamId, organizationId, environmentId, type, text }, query);
    return { resources: page.items.map(toResource), next_cursor: page.nextCursor };
  },
});
