import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { listActionsOf } from '#domain/plugins/assignments/action-store.ts';
import { isCovered } from '#domain/plugins/assignments/check.ts';
import { accessIfCovered, pluginAdministration, pluginReading } from '#domain/plugins/authority.ts';
import { installPlugin } from '#domain/plugins/installations/install.ts';
import { removePlugin } from '#domain/plugins/installations/remove.ts';
import { findInstallation, listInstallations } from '#domain/plugins/installations/store.ts';
import { selectorTypes } from '#domain/plugins/model.ts';
import { isInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { installationActions } from './actions.ts';
import { ExpectedState, InstallPlugin } from './bodies.ts';
import { InstallationView, ListedInstallationView, viewInstallation } from './installation-views.ts';
import { ActionView, PluginReceipt, viewAction } from './views.ts';

export const PluginParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'plugin_installations.list',
  route: 'GET /api/v1/plugin-installations',
  summary: 'List the installed plugins that you may read',
  query: z.strictObject({
    ...pageQuery,
    organization_id: Id.optional().describe('Only what the organization or its teams have installed.'),
    team_id: Id.optional().describe('Only what the team has installed.'),
    deleted: Flag.optional().describe('`true`: only plugins that were removed.'),
  }),
  responses: { 200: pageOf('installations', ListedInstallationView) },
  access: pluginReading,
  owners: { organization: 'organization_id', team: 'team_id' },
  handle: async ({ em, principal, query: { organization_id, team_id, deleted, ...request } }) => {
    const filter = { organizationId: organization_id, teamId: team_id, isDeleted: deleted === 'true' };
    const page = await listInstallations(em, principal, { ...request, ...filter });
    return { installations: page.items.map(viewInstallation), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'plugin_installations.get',
  route: 'GET /api/v1/plugin-installations/:id',
  summary: 'Read an installed plugin, also one that was removed, with the owners that its commands have to name',
  params: PluginParams,
  responses: { 200: InstallationView },
  access: pluginReading,
  target: ({ em, params }) => findInstallation(em, params.id),
  targetName: 'plugin installation',
  handle: async ({ target, operations, principal }) => ({
    ...viewInstallation(target.installation),
    actions: installationActions.describe({ operations, principal }, target),
  }),
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

/** The declarations that all commands on an installed plugin share. */
export const changesInstallation = {
  params: PluginParams,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }: { em: Em; params: z.output<typeof PluginParams>; lock: boolean }) =>
    findInstallation(em, params.id, lock ? 'change' : 'none'),
  targetName: 'plugin installation',
  idempotency: 'required',
  answersReceipt: true,
} as const;

export const remove = command({
  ...changesInstallation,
  id: 'plugin_installations.delete',
  route: 'DELETE /api/v1/plugin-installations/:id',
  summary: 'Remove a plugin with all its assignments, background principals and approvals, for good',
  description:
    'It answers 409 while resources of the plugin in the organization or team that installed it are not deleted. What was approved and ' +
    'assigned stays readable, and gives nothing. The data of the plugin stays as it is.',
  body: ExpectedState,
  audit: 'plugin_installation.deleted',
  handle: async ({ tx, principal, target, body }) => {
    const { name, activeRelease: release } = target.installation;
    const done = await removePlugin(tx, principal, target, {
      expectedRevision: body.expected_revision,
      expectedOwnership: body.expected_ownership,
    });
    return { ...done, members: { state: 'deleted' } as const, before: { name, release } };
  },
});

export const listActions = read({
  id: 'plugin_installations.list_actions',
  route: 'GET /api/v1/plugin-installations/:id/actions',
  summary: 'List the actions that the active release declares, for a place that you may read',
  description:
    'Name the place by `selector_type` and `selector_id`: the answer holds the actions that may be assigned there. Without them, it ' +
    'holds all actions, and you need to be able to read the installation. A plugin that was removed declares none.',
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
    const { installation } = found;
    if (!place || !isInScope(found, place)) return undefined;
    const of = { installationId: installation.id };
    return { ...place, installation, isCovered: await isCovered(em, { of, subjectId, place }) };
  },
  accessTo: (found) => accessIfCovered(pluginReading, found),
  targetName: 'plugin installation or selector',
  handle: async ({ em, target: { installation }, query: { selector_type: selectorType, selector_id: _, ...page } }) => {
    const found = await listActionsOf(em, installation.id, { ...page, isDeclared: true, selectorType });
    return { actions: found.items.map(viewAction), next_cursor: found.nextCursor };
  },
});
