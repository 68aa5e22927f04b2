import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { findAssembly, findAssemblyToChange } from '#domain/assemblies/store.ts';
import { preparePublication, publishAssembly } from '#domain/assemblies/versions/publication.ts';
import {
  type AssemblyVersionDetails,
  listAssemblyVersions,
  readAssemblyVersion,
} from '#domain/assemblies/versions/version-store.ts';
import { loadAssemblyVersion } from '#domain/assemblies/versions/versions.ts';
import { ServiceError, Unprocessable } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { draftAccess, nestedReadAccess } from './access.ts';
import { PublishAssembly } from './bodies.ts';
import { AssemblyParams } from './operations.ts';
import { VersionSummaryView, VersionView, viewSummary, viewVersion } from './views.ts';

export const WantedVersion = z.string().min(1).max(128).describe('A version, a range such as ^1.2, or latest.');
const VersionParams = z.strictObject({ id: Id, version: WantedVersion });

export const list = read({
  id: 'assemblies.list_versions',
  route: 'GET /api/v1/assemblies/:id/versions',
  summary: 'List the versions of an assembly, the last published first',
  params: AssemblyParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('versions', VersionSummaryView) },
  access: nestedReadAccess,
  target: ({ em, params }) => findAssembly(em, params.id),
  targetName: 'assembly',
  handle: async ({ em, params, query }) => {
    const page = await listAssemblyVersions(em, params.id, query);
    return { versions: page.items.map(viewSummary), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'assemblies.get_version',
  route: 'GET /api/v1/assemblies/:id/versions/:version',
  summary: 'Read a version with its spec; a range or `latest` is resolved',
  params: VersionParams,
  responses: { 200: VersionView },
  access: nestedReadAccess,
  target: ({ em, params }) => findAssembly(em, params.id),
  targetName: 'assembly',
  handle: async ({ em, params }) => viewVersion(await loadNamed(em, params.id, params.version)),
});

export const publish = command({
  id: 'assemblies.publish',
  route: 'POST /api/v1/assemblies/:id/publish',
  summary: 'Publish the draft as a version, for good',
  description:
    'Each node gets the exact template version that it names now. A draft that is not valid answers 422 with everything that is wrong. ' +
    '`expected_revision` is that of the draft. Publishing the same version with the same content again answers 200; with other ' +
    'content, 409.',
  params: AssemblyParams,
  body: PublishAssembly,
  responses: { 201: VersionView, 200: VersionView },
  at: get,
  access: draftAccess,
  target: ({ em, params, lock }) => findAssemblyToChange(em, params.id, lock),
  targetName: 'assembly',
  idempotency: 'none',
  // The version is new, so the path names no version.
  resource: 'assembly_versions',
  audit: 'assembly_version.published',
  prepare: ({ em, target, body, principal, services }) =>
    preparePublication({ em, principal, evaluator: services.evaluator }, target, toNewVersion(body)),
  handle: async ({ tx, target, body, prepared, principal }) => {
    const { version, isNew } = await publishAssembly(tx, target, toNewVersion(body), prepared, principal);
    const { id, assemblyId, digest } = version;
    const after = { assemblyId, version: version.version, digest, isNew };
    const answer = viewVersion(await readBack(readAssemblyVersion(tx.em, id)));
    return { id, after, isNew, answer };
  },
  atParams: (_change, { params, body }) => ({ id: params.id, version: body.version }),
});

function toNewVersion({ expected_revision: expectedRevision, ...version }: z.output<typeof PublishAssembly>) {
  return { ...version, expectedRevision };
}

/** The version that a request names. @throws ServiceError (404) naming the versions that exist instead */
export async function loadNamed(em: Em, assemblyId: string, version: string): Promise<AssemblyVersionDetails> {
  try {
    return await loadAssemblyVersion(em, assemblyId, version);
  } catch (error) {
    throw error instanceof Unprocessable ? new ServiceError('notFound', error.message) : error;
  }
}
