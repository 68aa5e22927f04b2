import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { pluginAdministration, pluginListing, pluginReading } from '#domain/plugins/authority.ts';
import { approveBackgroundPrincipal, revokeBackgroundPrincipal } from '#domain/plugins/background/approve.ts';
import { backgroundStates, findBackgroundWithPlace, listBackground } from '#domain/plugins/background/store.ts';
import { findInstallation } from '#domain/plugins/installations/store.ts';
import { selectorTypes } from '#domain/plugins/model.ts';
import { isOwnerInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { backgroundActions } from './actions.ts';
import { ApproveBackgroundPrincipal, ExpectedState } from './bodies.ts';
import { PluginParams } from './installation-operations.ts';
import { BackgroundPrincipalView, ListedBackgroundPrincipalView, PluginReceipt, viewBackground } from './views.ts';

export const list = read({
  id: 'plugin_background_principals.list',
  route: 'GET /api/v1/plugin-background-principals',
  summary: 'List the background principals of plugins that you may read, also those that were revoked',
  query: z.strictObject({
    ...pageQuery,
    installation_id: Id.optional(),
    selector_type: z.enum(selectorTypes).optional(),
    selector_id: Id.optional().describe('Only those that were approved for the place with this id.'),
    state: z.enum(backgroundStates).optional(),
  }),
  responses: { 200: pageOf('background_principals', ListedBackgroundPrincipalView) },
  access: pluginListing,
  handle: async ({ em, principal, query: { installation_id, selector_type, selector_id, ...request } }) => {
    const filter = { installationId: installation_id, selectorType: selector_type, selectorId: selector_id };
    const page = await listBackground(em, principal, { ...request, ...filter });
    return { background_principals: page.items.map(viewBackground), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'plugin_background_principals.get',
  route: 'GET /api/v1/plugin-background-principals/:id',
  summary: 'Read a background principal, also a revoked one, with the owners that its revocation has to name',
  params: PluginParams,
  responses: { 200: BackgroundPrincipalView },
  access: pluginReading,
  target: ({ em, params }) => findBackgroundWithPlace(em, params.id),
  targetName: 'plugin background principal',
  handle: async ({ target, operations, principal }) => ({
    ...viewBackground(target.background),
    actions: backgroundActions.describe({ operations, principal }, target),
  }),
});

export const approve = command({
  id: 'plugin_background_principals.approve',
  route: 'POST /api/v1/plugin-background-principals',
  summary: 'Approve an internal identity with which a plugin acts at a place without being asked',
  description: 'It has no credential, no role and no assignment. Assign it actions as you would a person.',
  body: ApproveBackgroundPrincipal,
  responses: { 201: PluginReceipt },
  at: get,
  access: { ...pluginAdministration, hidden: 'invalid' },
  target: ({ em, body: { selector }, lock }) =>
    selector ? findPresentPlace(em, selector, lock) : Promise.resolve(undefined),
  targetName: 'selector',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_background_principal.approved',
  handle: async ({ tx, principal, target: place, body }) => {
    const { name, selector } = body;
    const target = await findInstallation(tx.em, body.installation_id, 'share');
    if (!target || !isOwnerInScope(target, place))
      throw invalidField('installation_id', 'no such plugin is installed for the selector');
    const made = await approveBackgroundPrincipal(tx, principal, {
      name,
      target,
      place,
      expectedInstallationRevision: body.expected_installation_revision,
      expectedOwnership: body.expected_ownership,
    });
    return { ...made, after: { name, installation_id: target.installation.id, selector } };
  },
});

export const revoke = command({
  id: 'plugin_background_principals.revoke',
  route: 'DELETE /api/v1/plugin-background-principals/:id',
  summary: 'Revoke a background principal with all its assignments, for good',
  params: PluginParams,
  body: ExpectedState,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findBackgroundWithPlace(em, params.id, lock),
  targetName: 'plugin background principal',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_background_principal.revoked',
  handle: async ({ tx, principal, target, body }) => {
    const { background } = target;
    const revision = await revokeBackgroundPrincipal(tx, principal, background, target, {
      expectedRevision: body.expected_revision,
      expectedOwnership: body.expected_ownership,
    });
    return { id: background.id, revision, members: { state: 'revoked' } as const, before: { name: background.name } };
  },
});
