import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { pluginAdministration, pluginReading } from '#domain/plugins/authority.ts';
import { approveBackgroundPrincipal, revokeBackgroundPrincipal } from '#domain/plugins/background/approve.ts';
import { findBackgroundWithPlace, listBackground } from '#domain/plugins/background/store.ts';
import { findInstallation } from '#domain/plugins/installations/store.ts';
import { isOwnerInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { ApproveBackgroundPrincipal, ExpectedState } from './bodies.ts';
import { PluginParams } from './installation-operations.ts';
import { BackgroundPrincipalView, PluginReceipt, viewBackground } from './views.ts';

export const list = read({
  id: 'plugin_background_principals.list',
  route: 'GET /api/v1/plugin-background-principals',
  summary: 'List the background principals of an installed plugin, also those that were revoked',
  query: z.strictObject({ ...pageQuery, installation_id: Id }),
  responses: { 200: pageOf('background_principals', BackgroundPrincipalView) },
  access: pluginReading,
  target: ({ em, query }) =>
    query.installation_id === undefined ? Promise.resolve(undefined) : findInstallation(em, query.installation_id),
  targetName: 'plugin installation',
  handle: async ({ em, principal, query: { installation_id, ...request } }) => {
    const page = await listBackground(em, principal, installation_id, request);
    return { background_principals: page.items.map(viewBackground), next_cursor: page.nextCursor };
  },
});

export const approve = command({
  id: 'plugin_background_principals.approve',
  route: 'POST /api/v1/plugin-background-principals',
  summary: 'Approve an internal identity with which a plugin acts at a place when nobody asks',
  description: 'It has no credential, no role and no assignment. Assign it actions as you would a person.',
  body: ApproveBackgroundPrincipal,
  responses: { 201: PluginReceipt },
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
