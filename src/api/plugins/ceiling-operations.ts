import { command, read } from '#api/pipeline/operation.ts';
import { ceilingAdministration, pluginReading } from '#domain/plugins/authority.ts';
import { replaceCeiling as replace } from '#domain/plugins/ceilings/replace.ts';
import { findCeiling } from '#domain/plugins/ceilings/store.ts';
import { findInstallation } from '#domain/plugins/installations/store.ts';
import { ReplaceCeiling } from './bodies.ts';
import { changesInstallation, PluginParams } from './installation-operations.ts';
import { CeilingView, viewCeiling } from './installation-views.ts';

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
  ...changesInstallation,
  id: 'plugin_installations.replace_ceiling',
  route: 'PUT /api/v1/plugin-installations/:id/ceiling',
  summary: 'Replace what is approved of an installed plugin; it grants no permissions by itself',
  description:
    'Both lists are required, and empty ones approve nothing. An action that is left out loses its assignments for good. `expected_revision` is that ' +
    'of the installation, and `expected_ceiling_revision` that of the ceiling, 0 if there is none yet: so two administrators cannot overwrite each ' +
    'other. `If-Match`, if you send it beside that, has to name the same revision.',
  body: ReplaceCeiling,
  at: getCeiling,
  ifMatch: 'expected_ceiling_revision',
  access: ceilingAdministration,
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
