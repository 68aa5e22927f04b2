import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { listActions as findActions } from '#domain/plugins/assignments/action-store.ts';
import { isCovered } from '#domain/plugins/assignments/check.ts';
import {
  accessIfCovered,
  ceilingAdministration,
  pluginAdministration,
  pluginReading,
} from '#domain/plugins/authority.ts';
import { replaceCeiling as replace } from '#domain/plugins/ceilings/replace.ts';
import { findCeiling } from '#domain/plugins/ceilings/store.ts';
import { installPlugin } from '#domain/plugins/installations/install.ts';
import { findInstallation, listInstallations } from '#domain/plugins/installations/store.ts';
import { activateRelease } from '#domain/plugins/manifests/activate.ts';
import { readManifest } from '#domain/plugins/manifests/manifest.ts';
import { stageRelease } from '#domain/plugins/manifests/stage.ts';
import { listReleases as findReleases } from '#domain/plugins/manifests/store.ts';
import { selectorTypes } from '#domain/plugins/model.ts';
import { isInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { ActivateRelease, InstallPlugin, ReplaceCeiling, StageManifest } from './bodies.ts';
import {
  ActionView,
  CeilingView,
  InstallationView,
  ListedInstallationView,
  PluginReceipt,
  ReleaseView,
  viewAction,
  viewCeiling,
  viewInstallation,
  viewRelease,
  withOwnership,
} from './views.ts';

export const PluginParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'plugin_installations.list',
  route: 'GET /api/v1/plugin-installations',
  summary: 'List the installed plugins that you may read',
  query: z.strictObject({
    ...pageQuery,
    organization_id: Id.optional().describe('Only what the organization or its teams have installed.'),
    team_id: Id.optional().describe('Only what the team has installed.'),
  }),
  responses: { 200: pageOf('installations', ListedInstallationView) },
  access: pluginReading,
  owners: { organization: 'organization_id', team: 'team_id' },
  handle: async ({ em, principal, query: { organization_id, team_id, ...request } }) => {
    const filter = { organizationId: organization_id, teamId: team_id };
    const page = await listInstallations(em, principal, { ...request, ...filter });
    return { installations: page.items.map(viewInstallation), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'plugin_installations.get',
  route: 'GET /api/v1/plugin-installations/:id',
  summary: 'Read an installed plugin, with the owners that its commands have to name',
  params: PluginParams,
  responses: { 200: InstallationView },
  access: pluginReading,
  target: ({ em, params }) => findInstallation(em, params.id),
  targetName: 'plugin installation',
  handle: async ({ target }) => withOwnership(viewInstallation(target.installation), target.place),
});

export const create = command({
  id: 'plugin_installations.create',
  route: 'POST /api/v1/plugin-installations',
  summary: 'Install a plugin in an organization or a team; it declares nothing until a release is activated',
  body: InstallPlugin,
  responses: { 201: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, body: { organization_id, team_id }, lock }) => {
    if (team_id !== undefined) return findPresentPlace(em, { type: 'team', id: team_id }, lock);
    if (organization_id === undefined) return Promise.resolve(undefined);
    return findPresentPlace(em, { type: 'organization', id: organization_id }, lock);
  },
  targetName: 'owner',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_installation.created',
  handle: async ({ tx, principal, target, body: { name, expected_ownership: expectedOwnership } }) => {
    const made = await installPlugin(tx, principal, target, { name, expectedOwnership });
    return { ...made, after: { name } };
  },
});

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
  id: 'plugin_installations.stage_manifest',
  route: 'POST /api/v1/plugin-installations/:id/manifests',
  summary: 'Stage the manifest of a release byte for byte, or make known only its digest',
  description:
    'A release never changes: another digest of the same release answers 409. Staging activates nothing. A manifest that names SQL ' +
    'roots needs `settings.manage`, since restoring a resource reads those tables.',
  params: PluginParams,
  body: StageManifest,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findInstallation(em, params.id, lock ? 'change' : 'none'),
  targetName: 'plugin installation',
  idempotency: 'required',
  answersReceipt: true,
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
  id: 'plugin_installations.activate',
  route: 'POST /api/v1/plugin-installations/:id/activate',
  summary: 'Let a release of a plugin count; it ends all assignments and makes the ceiling stale',
  description: 'It starts no code of the plugin. Approve a new ceiling and assign the actions anew.',
  params: PluginParams,
  body: ActivateRelease,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findInstallation(em, params.id, lock ? 'change' : 'none'),
  targetName: 'plugin installation',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_installation.activated',
  handle: async ({ tx, target, body: { release, expected_revision, expected_ownership: expectedOwnership } }) => {
    const done = await activateRelease(tx, target, { release, expectedRevision: expected_revision, expectedOwnership });
    return { ...done, before: { release: target.installation.activeRelease }, after: { release } };
  },
});

export const listActions = read({
  id: 'plugin_installations.list_actions',
  route: 'GET /api/v1/plugin-installations/:id/actions',
  summary: 'List the actions that the active release declares, for a place that you may read',
  description:
    'Name the place by `selector_type` and `selector_id`: the answer holds the actions that may be assigned there. Without them, it ' +
    'holds all actions, and you need to be able to read the installation.',
  params: PluginParams,
  query: z
    .strictObject({ ...pageQuery, selector_type: z.enum(selectorTypes).optional(), selector_id: Id.optional() })
    .refine(({ selector_type, selector_id }) => (selector_type === undefined) === (selector_id === undefined), {
      error: 'expected selector_type and selector_id together',
      path: ['selector_type'],
    }),
  responses: { 200: pageOf('actions', ActionView) },
  access: pluginReading,
  target: async ({ em, params, query: { selector_type: type, selector_id: id }, callerId: subjectId }) => {
    const found = await findInstallation(em, params.id);
    if (!found || type === undefined || id === undefined) return found;
    const place = await findPresentPlace(em, { type, id });
    const { organizationId, installation } = found;
    if (!place || !isInScope({ id: installation.id, teamId: installation.teamId, organizationId }, place))
      return undefined;
    const of = { installationId: installation.id };
    return { ...place, installation, isCovered: await isCovered(em, { of, subjectId, place }) };
  },
  accessTo: (found) => accessIfCovered(pluginReading, found),
  targetName: 'plugin installation or selector',
  handle: async ({ em, target: { installation }, query: { selector_type: selectorType, selector_id: _, ...page } }) => {
    const ceiling = await findCeiling(em, installation.id);
    const found = await findActions(em, installation.id, { ...page, isDeclared: true, selectorType });
    const actions = found.items.map((action) => viewAction(action, installation, ceiling));
    return { actions, next_cursor: found.nextCursor };
  },
});

export const getCeiling = read({
  id: 'plugin_installations.get_ceiling',
  route: 'GET /api/v1/plugin-installations/:id/ceiling',
  summary: 'Read what is approved of an installed plugin',
  params: PluginParams,
  responses: { 200: CeilingView },
  access: pluginReading,
  target: ({ em, params }) => findInstallation(em, params.id),
  targetName: 'plugin installation',
  handle: async ({ em, target: { installation } }) => viewCeiling(installation, await findCeiling(em, installation.id)),
});

export const replaceCeiling = command({
  id: 'plugin_installations.replace_ceiling',
  route: 'PUT /api/v1/plugin-installations/:id/ceiling',
  summary: 'Replace what is approved of an installed plugin; it gives nobody any authority',
  description:
    'Both lists are required, and empty ones approve nothing. An action that is left out loses its assignments for good. `expected_revision` is that ' +
    'of the installation. To replace a ceiling that is current, name its own revision too, as `expected_ceiling_revision` or `If-Match`: otherwise two ' +
    'administrators could overwrite each other.',
  params: PluginParams,
  body: ReplaceCeiling,
  responses: { 200: PluginReceipt },
  at: getCeiling,
  ifMatch: 'expected_ceiling_revision',
  access: ceilingAdministration,
  target: ({ em, params, lock }) => findInstallation(em, params.id, lock ? 'change' : 'none'),
  targetName: 'plugin installation',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_installation.ceiling_replaced',
  handle: async ({ tx, principal, target, body }) => {
    const { actions, executions, expected_ownership: expectedOwnership } = body;
    const { expected_revision: expectedRevision, expected_ceiling_revision: expectedCeilingRevision } = body;
    const wanted = { actions, executions, expectedRevision, expectedCeilingRevision, expectedOwnership };
    const { before, ...done } = await replace(tx, principal, target, wanted);
    const names = { actions: before?.actions.map(({ name }) => name) ?? [], executions: before?.executions ?? [] };
    return { ...done, before: names, after: { actions, executions } };
  },
});
