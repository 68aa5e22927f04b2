import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { findsByName } from '#api/pipeline/invocation/resource-names.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { archivingOperations } from '#api/tenancy/archiving-operations.ts';
import { CreateNamed, RenameNamed } from '#api/tenancy/bodies.ts';
import { archivedQuery, withArchivedFilter } from '#api/tenancy/queries.ts';
import type { Em } from '#database/database.ts';
import { createOrganization, updateOrganization } from '#domain/organizations/organizations.ts';
import {
  findOrganization,
  findOrganizationToChange,
  listOrganizations,
  type OrganizationTarget,
} from '#domain/organizations/store.ts';
import { findOrganizationTransfer, transferOrganization } from '#domain/organizations/transfer.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { readCallerAgain } from '#domain/shared/access/store.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { Slug } from '#domain/tenancy/model.ts';
import { ListedOrganizationView, OrganizationView, showOrganization, viewOrganization } from './views.ts';

export const TransferOrganization = z
  .strictObject({ new_owner_user_id: Id, ...ExpectedRevision })
  .meta({ id: 'TransferOrganization' });

/** An organization in a path: its id, or a present or former slug. */
export const OrganizationName = findsByName(
  z.union([Id, Slug], { error: 'expected a lowercase UUID other than zero, or a slug such as "core-network"' }),
  async (em, name) => (await findOrganization(em, name))?.id,
);
export const OrganizationParams = z.strictObject({ orgID: OrganizationName });

export const readAccess: Access = {
  anyOf: ['organization:read'],
  scope: 'organization',
  hidden: 'not_found',
  review: { resource: 'organizations', verb: 'get' },
};
const updateAccess: Access = {
  anyOf: ['organization:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: { resource: 'organizations', verb: 'update' },
};
/** Only owners may archive, delete or transfer an organization. */
const archiveAccess: Access = {
  ...updateAccess,
  organizationRole: 'owner',
  review: { resource: 'organizations', verb: 'archive' },
};

export const list = read({
  id: 'organizations.list',
  route: 'GET /api/v1/organizations',
  summary: 'List the organizations that you are in',
  query: z.strictObject({ ...pageQuery, ...archivedQuery }),
  responses: { 200: pageOf('organizations', ListedOrganizationView) },
  access: { ...readAccess, scope: 'platform', review: { resource: 'organizations', verb: 'list' } },
  handle: async ({ em, principal, query }) => {
    const page = await listOrganizations(em, principal, withArchivedFilter(query));
    return { organizations: page.items.map(viewOrganization), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'organizations.get',
  route: 'GET /api/v1/organizations/:orgID',
  summary: 'Read an organization, by its id or a slug that it has or had',
  params: OrganizationParams,
  responses: { 200: OrganizationView },
  access: readAccess,
  target: ({ em, params }) => findOrganization(em, params.orgID),
  targetName: 'organization',
  resourceId: ({ target }) => target?.id,
  handle: async ({ em, target, operations, principal }) => showOrganization(em, { operations, principal }, target),
});

export const create = command({
  id: 'organizations.create',
  route: 'POST /api/v1/organizations',
  summary: 'Create an organization; you become its owner',
  body: CreateNamed,
  responses: { 201: OrganizationView },
  at: get,
  access: {
    anyOf: ['organization:write'],
    scope: 'platform',
    hidden: 'not_found',
    // The creator becomes the owner, who is responsible for the organization and so must be a person.
    principals: ['user'],
    review: { resource: 'organizations', verb: 'create' },
  },
  idempotency: 'none',
  audit: 'organization.created',
  handle: async ({ tx, principal, body, operations }) => {
    const organization = await createOrganization(tx.em, principal, body);
    const { name, slug } = organization;
    const context = { operations, principal: await readCallerAgain(tx.em, principal) };
    return {
      ...(await changeOf(tx.em, context, organization)),
      owners: organization,
      after: { name, slug, owner: principal.id },
    };
  },
});

export const update = command({
  id: 'organizations.update',
  route: 'PATCH /api/v1/organizations/:orgID',
  summary: 'Rename an organization; its former slugs keep leading to it',
  params: OrganizationParams,
  body: RenameNamed,
  responses: { 200: OrganizationView },
  access: updateAccess,
  target: ({ em, params, lock }) => findOrganizationToChange(em, params.orgID, lock),
  targetName: 'organization',
  resourceId: ({ target }) => target?.id,
  idempotency: 'none',
  audit: 'organization.updated',
  handle: async ({ tx, target, body, operations, principal }) => {
    const { updated, difference } = await updateOrganization(tx.em, target, toProperties(body));
    const { before, after } = difference;
    return { ...(await changeOf(tx.em, { operations, principal }, updated)), before, after };
  },
});

export const { archive, unarchive, remove } = archivingOperations({
  level: 'organization',
  path: '/api/v1/organizations/:orgID',
  params: OrganizationParams,
  view: OrganizationView,
  show: showOrganization,
  summaries: {
    archive: 'Archive an organization: it takes nothing new, and no run starts in it',
    unarchive: 'Take an organization out of the archive',
    delete: 'Delete an organization that has no teams; its name and slugs are free again',
  },
  access: {
    archive: archiveAccess,
    unarchive: { ...archiveAccess, review: { inherits: 'organizations.archive' } },
    delete: { ...archiveAccess, review: { resource: 'organizations', verb: 'delete' } },
  },
  find: findOrganization,
  findToChange: (em, { orgID }, lock) => findOrganizationToChange(em, orgID, lock),
});

export const transfer = command({
  id: 'organizations.transfer',
  route: 'POST /api/v1/organizations/:orgID/transfer',
  summary: 'Transfer an organization to another owner; if you are an owner, you become an admin',
  params: OrganizationParams,
  body: TransferOrganization,
  responses: { 200: OrganizationView },
  access: { ...archiveAccess, review: { resource: 'organizations', verb: 'transfer', target: findOrganization } },
  target: ({ em, params, body, callerId, lock }) =>
    findOrganizationTransfer(em, { organization: params.orgID, from: callerId, to: body.new_owner_user_id }, lock),
  targetName: 'organization',
  resourceId: ({ target }) => target?.id,
  idempotency: 'none',
  audit: 'organization.transferred',
  handle: async ({ tx, principal, target, body, operations }) => {
    const transferred = await transferOrganization(tx.em, principal, target, {
      expectedRevision: body.expected_revision,
    });
    const wasOwner = principal.organizations[target.id] === 'owner';
    const before = { owner: wasOwner ? principal.id : null };
    const context = { operations, principal: await readCallerAgain(tx.em, principal) };
    return { ...(await changeOf(tx.em, context, transferred)), before, after: { owner: body.new_owner_user_id } };
  },
});

async function changeOf(em: Em, context: ActionContext, organization: OrganizationTarget) {
  const { id, revision } = organization;
  return { id, revision, answer: await showOrganization(em, context, organization) };
}
