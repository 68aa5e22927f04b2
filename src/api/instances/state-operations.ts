import { z } from 'zod';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { readState } from '#domain/instances/state/state.ts';
import { forgetImportedState } from '#domain/instances/state/state-forgetting.ts';
import {
  importFirstState,
  maxImportBytes,
  maxSerial,
  readImportedState,
} from '#domain/instances/state/state-import.ts';
import { listStateVersions, readStateVersion } from '#domain/instances/state/version-store.ts';
import { findInstance, findInstanceToChange } from '#domain/instances/targets.ts';
import { refuseDependents } from '#domain/runs/references/dependents.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { ForgetState } from './bodies.ts';
import { accessReview, InstanceParams, readAccess } from './operations.ts';
import { StateVersionView, toStateVersion } from './views.ts';

/** A state contains secrets in clear text, so reading it requires more than reading the instance. */
const stateAccess: Access = {
  ...readAccess,
  anyOf: ['environment:write'],
  teamAction: ['team.metadata.write', 'team.secret.read'],
  installation: 'administrators',
};

export const list = read({
  id: 'instances.list_state_versions',
  route: 'GET /api/v1/instances/:id/state-versions',
  summary: "List an instance's state versions, newest first",
  params: InstanceParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('state_versions', StateVersionView) },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, query }) => {
    const page = await listStateVersions(em, params.id, query);
    return { state_versions: page.items.map(toStateVersion), next_cursor: page.nextCursor };
  },
});

const StateParams = z.strictObject({ ...InstanceParams.shape, serial: wholeNumber({ min: 1 }) });

export const get = read({
  id: 'instances.get_state_version',
  route: 'GET /api/v1/instances/:id/state-versions/:serial',
  summary: 'Read a state version, without its content',
  params: StateParams,
  responses: { 200: StateVersionView },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params }) => {
    const version = await readStateVersion(em, params.id, params.serial);
    if (!version) throw new NotFound(`state version ${params.serial}`);
    return toStateVersion(version);
  },
});

export const download = read({
  id: 'instances.download_state',
  route: 'GET /api/v1/instances/:id/state-versions/:serial/download',
  summary: 'Download a state as the tool wrote it, secrets included',
  params: StateParams,
  responses: { 200: z.never() },
  produces: { 'application/json': 'The state, byte for byte as the tool wrote it.' },
  access: { ...stateAccess, review: { ...accessReview, verb: 'download_state' } },
  target: findInstance,
  targetName: 'instance',
  audit: 'instance.state_downloaded',
  handle: async ({ em, params, services }) => {
    const content = await readState(em, services.keyRing, params.id, params.serial);
    if (!content) throw new NotFound(`state version ${params.serial}`);
    return RawAnswer.of('application/json', content, `state-${params.id}-${params.serial}.json`);
  },
});

/** The bytes of a state. The document describes which parts the service checks. */
const StateBody = z
  .custom<Buffer>((body) => Buffer.isBuffer(body))
  .meta({
    id: 'StateFile',
    type: 'object',
    description: 'A state of OpenTofu or Terraform, stored byte for byte.',
    required: ['version', 'serial', 'lineage'],
    properties: {
      version: { const: 4, type: 'number' },
      serial: { type: 'number', multipleOf: 1, minimum: 0, maximum: maxSerial },
      lineage: { type: 'string', minLength: 1, maxLength: 1024 },
      resources: { type: 'array', items: { type: 'object' } },
      outputs: { type: 'object' },
    },
  });

export const importState = command({
  id: 'instances.import_state',
  route: 'POST /api/v1/instances/:id/state',
  summary: 'Adopt existing infrastructure: import a state into an instance that has none',
  description:
    'The body is the state as the tool wrote it (`tofu state pull`), of at most 64 MiB. It is stored byte for byte, so that ' +
    'integers of any size stay exact, and the next run continues from it.',
  params: InstanceParams,
  body: StateBody,
  exactBodyLimit: maxImportBytes,
  responses: { 201: StateVersionView },
  at: get,
  access: { ...stateAccess, review: { ...accessReview, verb: 'import_state' } },
  target: findInstanceToChange,
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.state_imported',
  prepare: ({ target, body }) => {
    refuseArchived(target);
    return readImportedState(body);
  },
  handle: async ({ tx, params, target, principal, services, prepared }) => {
    refuseArchived(target);
    const serial = await importFirstState(tx, services.keyRing, params.id, prepared, principal.id);
    return { id: params.id, after: { serial } };
  },
  atParams: ({ id, after }) => ({ id, serial: after.serial }),
});

export const forgetState = command({
  id: 'instances.forget_state',
  route: 'DELETE /api/v1/instances/:id/state',
  summary: 'Undo the import of a state: the instance holds nothing again, and nothing is destroyed',
  description:
    'It works as long as no run has applied to the instance. The state version stays in the history, and can be downloaded. Afterwards ' +
    'another state can be imported, or the instance can be deleted.',
  params: InstanceParams,
  body: ForgetState.prefault({}),
  responses: { 204: Nothing },
  access: { ...stateAccess, review: { ...accessReview, verb: 'forget_state' } },
  target: findInstanceToChange,
  targetName: 'instance',
  idempotency: 'none',
  ifMatch: true,
  audit: 'instance.state_forgotten',
  handle: async ({ tx, target, body, principal, expectedRevision }) => {
    refuseArchived(target);
    await refuseDependents(tx.em, target.id, { principal, despiteDependents: body.despite_dependents });
    const { revision, ...before } = await forgetImportedState(tx, target, expectedRevision);
    return { id: target.id, before, revision };
  },
});
