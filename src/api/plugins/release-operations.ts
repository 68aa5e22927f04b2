import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { pluginReading } from '#domain/plugins/authority.ts';
import { findInstallation } from '#domain/plugins/installations/store.ts';
import { activateRelease } from '#domain/plugins/manifests/activate.ts';
import { readManifest } from '#domain/plugins/manifests/manifest.ts';
import { stageRelease } from '#domain/plugins/manifests/stage.ts';
import { listReleases as findReleases } from '#domain/plugins/manifests/store.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ActivateRelease, StageManifest } from './bodies.ts';
import { changesInstallation, PluginParams } from './installation-operations.ts';
import { ReleaseView, viewRelease } from './installation-views.ts';

export const listReleases = read({
  id: 'plugin_installations.list_manifests',
  route: 'GET /api/v1/plugin-installations/:id/manifests',
  summary: 'List the releases that an installed plugin knows, with the exact bytes of their manifests',
  params: PluginParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('manifests', ReleaseView) },
  access: pluginReading,
  target: ({ em, params }) => findInstallation(em, params.id),
  targetName: 'plugin installation',
  handle: async ({ em, params, query }) => {
    const page = await findReleases(em, params.id, query);
    return { manifests: page.items.map(viewRelease), next_cursor: page.nextCursor };
  },
});

export const stage = command({
  ...changesInstallation,
  id: 'plugin_installations.stage_manifest',
  route: 'POST /api/v1/plugin-installations/:id/manifests',
  summary: 'Stage the manifest of a release byte for byte, or make known only its digest',
  description:
    'A release never changes: another digest of the same release answers 409. Staging activates nothing. A manifest that names SQL ' +
    'roots needs `settings.manage`, since restoring a resource reads those tables.',
  body: StageManifest,
  audit: 'plugin_installation.manifest_staged',
  handle: async ({ tx, principal, target, body }) => {
    const { release, digest, manifest, expected_revision, expected_ownership: expectedOwnership } = body;
    const read = manifest === undefined ? undefined : readManifest(manifest, { release, digest });
    const staged = { release, digest, read, expectedRevision: expected_revision, expectedOwnership };
    const done = await stageRelease(tx, principal, target, staged);
    return { ...done, members: { state: 'staged' } as const, after: { release, digest, manifest: read !== undefined } };
  },
});

export const activate = command({
  ...changesInstallation,
  id: 'plugin_installations.activate',
  route: 'POST /api/v1/plugin-installations/:id/activate',
  summary: 'Activate a release of a plugin; it ends all assignments and makes the ceiling stale',
  description: 'It starts no code of the plugin. Approve a new ceiling and assign the actions anew.',
  body: ActivateRelease,
  audit: 'plugin_installation.activated',
  handle: async ({ tx, principal, target, body: { release, expected_revision: expectedRevision, ...body } }) => {
    const wanted = { release, expectedRevision, expectedOwnership: body.expected_ownership };
    const done = await activateRelease(tx, principal, target, wanted);
    return { ...done, before: { release: target.installation.activeRelease }, after: { release } };
  },
});
