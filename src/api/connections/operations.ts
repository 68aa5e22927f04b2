import { z } from 'zod';
import { changeOf, comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { ownerParameters, ownerQuery, toOwnerIds } from '#api/pipeline/owned.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { limitTest } from '#api/tenancy/outbound-tests.ts';
import { ownedAccess } from '#api/tenancy/owned-access.ts';
import { connectionReading } from '#domain/connections/authority.ts';
import { checkSettings } from '#domain/connections/check.ts';
import {
  createConnection,
  deleteConnection,
  findConnectionToDelete,
  rotateCredentials,
  type SettingsForConfig,
  updateConnection,
} from '#domain/connections/connection-changes.ts';
import { type ConnectionDetails, findConnection, listConnections, readSeals } from '#domain/connections/store.ts';
import { type Trial, tryConnection as trial } from '#domain/connections/trial/trial.ts';
import { findRowOwner } from '#domain/owners/owner.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { CreateConnection, RotateConnection, TestConnection, UpdateConnection } from './bodies.ts';
import {
  ConnectionTestView,
  ConnectionView,
  connectionActions,
  ListedConnectionView,
  viewConnection,
} from './views.ts';

const ConnectionParams = z.strictObject({ id: Id });

const { review, listAccess, readAccess, createAccess, writeAccess } = ownedAccess('connections', {
  reads: connectionReading.anyOf,
  changes: ['connection:manage'],
  ofInstallation: 'everybody',
});

export const list = readList({
  id: 'connections.list',
  route: 'GET /api/v1/admin/connections',
  summary: 'List the connections that you may read, by name, without their credentials',
  description: 'The list has no pages: an owner has at most 200 connections.',
  query: z.strictObject(ownerQuery),
  responses: { 200: z.object({ connections: z.array(ListedConnectionView) }).meta({ id: 'Connections' }) },
  access: listAccess,
  owners: ownerParameters,
  handle: async ({ em, principal, query }) => {
    const connections = await listConnections(em, principal, toOwnerIds(query));
    return { connections: connections.map(viewConnection) };
  },
});

export const get = read({
  id: 'connections.get',
  route: 'GET /api/v1/admin/connections/:id',
  summary: 'Read a connection without its credentials',
  params: ConnectionParams,
  responses: { 200: ConnectionView },
  access: readAccess,
  target: ({ em, params }) => findConnection(em, params.id),
  targetName: 'connection',
  handle: async ({ target, operations, principal }) => ({
    ...viewConnection(target.connection),
    actions: connectionActions.describe({ operations, principal }, target),
  }),
});

export const create = command({
  id: 'connections.create',
  route: 'POST /api/v1/admin/connections',
  summary: 'Keep credentials for a system outside',
  description: 'The credentials are encrypted, and no answer ever shows them.',
  body: CreateConnection,
  responses: { 201: ConnectionView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findRowOwner(em, toOwnerIds(body), lock),
  targetName: 'owner',
  idempotency: 'none',
  audit: 'connection.created',
  prepare: ({ body, services }) => checkSettings(body, services.config),
  handle: async ({ tx, target, body, prepared, services }) => {
    const { name, kind } = body;
    const connection = await createConnection(tx, services.keyRing, target, { name, kind, ...prepared });
    return { ...changeOf(connection), after: toAudited(connection) };
  },
});

export const update = command({
  id: 'connections.update',
  route: 'PATCH /api/v1/admin/connections/:id',
  summary: 'Rename a connection, or change its config with its credentials; what is left out stays',
  params: ConnectionParams,
  body: UpdateConnection,
  responses: { 200: ConnectionView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findConnection(em, params.id, lock),
  targetName: 'connection',
  idempotency: 'none',
  audit: 'connection.updated',
  prepare: async ({ target, body, services }) => {
    const { config, credentials } = body;
    return credentials && checkChange(target.connection, { config, credentials }, services);
  },
  handle: async ({ tx, target, body, prepared, services }) => {
    const { name, expected_revision: expectedRevision } = body;
    const change = { name, settings: prepared, expectedRevision };
    const connection = await updateConnection(tx, services.keyRing, target, change);
    const compared = { before: toAudited(target.connection), after: toAudited(connection) };
    return { ...changeOf(connection), ...comparedIf(connection.revision !== target.connection.revision, compared) };
  },
});

export const rotate = command({
  id: 'connections.rotate',
  route: 'POST /api/v1/admin/connections/:id/rotate',
  summary: 'Replace the credentials of a connection',
  description:
    'What has the former credentials keeps them until it ends; whatever begins from now on gets the new ones.',
  params: ConnectionParams,
  body: RotateConnection,
  responses: { 200: ConnectionView },
  at: get,
  access: { ...writeAccess, review: { ...review, verb: 'rotate' } },
  target: ({ em, params, lock }) => findConnection(em, params.id, lock),
  targetName: 'connection',
  idempotency: 'none',
  audit: 'connection.rotated',
  prepare: ({ target: { connection }, body: { credentials }, services }) =>
    checkChange(connection, { config: undefined, credentials }, services),
  handle: async ({ tx, target, body, prepared, services }) => {
    const change = { settings: prepared, expectedRevision: body.expected_revision };
    const connection = await rotateCredentials(tx, services.keyRing, target, change);
    return { ...changeOf(connection), before: toAudited(target.connection), after: toAudited(connection) };
  },
});

export const test = command({
  id: 'connections.test',
  route: 'POST /api/v1/admin/connections/:id/test',
  summary: 'Try the saved settings and credentials now, and answer what came of it',
  description:
    'It asks the system itself: git for the refs of a repository, a registry for its services, a cluster for its API. What only the tools of a cloud could try is not ' +
    'tried, and the answer says so. It takes 60 seconds at most.',
  params: ConnectionParams,
  body: TestConnection.prefault({}),
  responses: { 200: ConnectionTestView },
  access: {
    ...writeAccess,
    anyOf: ['connection:test'],
    review: { ...review, verb: 'test' },
  },
  target: ({ em, params, lock }) => findConnection(em, params.id, lock),
  targetName: 'connection',
  idempotency: 'none',
  audit: 'connection.tested',
  prepare: ({ target, principal, body, services }) =>
    limitTest(principal, target, (holders) =>
      tryConnection(services, target.connection, { repository: body.repository, holders }),
    ),
  handle: async ({ target, prepared }) => {
    const { ok, tried, problem } = prepared;
    return { id: target.connection.id, after: { ok, tried, problem }, answer: prepared };
  },
});

export const remove = command({
  id: 'connections.delete',
  route: 'DELETE /api/v1/admin/connections/:id',
  summary: 'Delete a connection with its credentials',
  params: ConnectionParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...review, verb: 'delete' } },
  target: ({ em, params, lock }) => findConnectionToDelete(em, params.id, lock),
  targetName: 'connection',
  idempotency: 'none',
  ifMatch: true,
  audit: 'connection.deleted',
  handle: async ({ tx, target, expectedRevision }) => {
    const { connection } = target;
    await deleteConnection(tx, target, expectedRevision);
    return { ...changeOf(connection), before: toAudited(connection) };
  },
});

/** Checks credentials against the config of the request, or else that of the connection. */
async function checkChange(
  { kind, config: kept }: ConnectionDetails,
  { config, credentials }: { config: unknown; credentials: unknown },
  services: Services,
): Promise<SettingsForConfig> {
  const checked = await checkSettings({ kind, config: config ?? kept, credentials }, services.config);
  return { ...checked, keptConfig: config === undefined ? kept : undefined };
}

/** What the audit stores: everything except the credentials. Their revision shows that they were replaced. */
function toAudited({ name, kind, config, provides, credentialRevision }: ConnectionDetails) {
  return { name, kind, config, provides, credentialRevision };
}

/** Tries a connection as it is saved. It waits for the other system, so it must not run in a transaction. */
export async function tryConnection(
  { orm, keyRing, outboundHttp: http, config }: Services,
  connection: ConnectionDetails,
  { repository, holders }: { readonly repository: string | undefined; readonly holders: readonly string[] },
): Promise<Trial> {
  const seals = await readSeals(orm.em.fork(), connection.id);
  if (!seals) throw new NotFound('connection');
  const { outbound: policy, issuer } = config;
  return trial({ keyRing, http, policy, issuer, holders }, { ...connection, ...seals }, repository);
}
