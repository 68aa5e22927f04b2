import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { type ActionDetails, findAction } from '#domain/plugins/assignments/action-store.ts';
import { assignAction, revokeGrant } from '#domain/plugins/assignments/grant.ts';
import { findGrantWithPlace, listGrants } from '#domain/plugins/assignments/store.ts';
import { accessIfCovered, pluginAdministration, pluginListing, pluginReading } from '#domain/plugins/authority.ts';
import { findInstallation, type InstallationTarget } from '#domain/plugins/installations/store.ts';
import { selectorTypes } from '#domain/plugins/model.ts';
import { isOwnerInScope } from '#domain/plugins/places/containment.ts';
import { findPresentPlace, type Place } from '#domain/plugins/places/place-store.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { grantActions } from './actions.ts';
import { AssignAction, ExpectedState } from './bodies.ts';
import { PluginParams } from './installation-operations.ts';
import { GrantView, ListedGrantView, PluginReceipt, viewGrant } from './views.ts';

/** A filter by an id, or by a text in a name. */
const Named = z.string().trim().min(1).max(200);

export const list = read({
  id: 'plugin_action_grants.list',
  route: 'GET /api/v1/plugin-action-grants',
  summary: 'List the assignments of actions that you may read, and your own, also those that have ended',
  query: z.strictObject({
    ...pageQuery,
    installation_id: Id.optional(),
    action_id: Id.optional(),
    subject_id: Id.optional().describe('Only what was assigned to this principal.'),
    subject: Named.optional().describe(
      'Only what was assigned to the subject with this id, or with this text in the name.',
    ),
    selector_type: z.enum(selectorTypes).optional(),
    selector: Named.optional().describe(
      'Only what names the place with this id, or this text in the name of a place that you may read.',
    ),
    in_force: Flag.optional().describe('`true`: only what is in force; `false`: only what has ended.'),
  }),
  responses: { 200: pageOf('grants', ListedGrantView) },
  access: pluginListing,
  handle: async ({ em, principal, query }) => {
    const { installation_id, action_id, subject_id, selector_type, in_force, ...request } = query;
    const filter = {
      installationId: installation_id,
      actionId: action_id,
      subjectId: subject_id,
      selectorType: selector_type,
      isInForce: in_force === undefined ? undefined : in_force === 'true',
    };
    const page = await listGrants(em, principal, { ...request, ...filter });
    return { grants: page.items.map(viewGrant), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'plugin_action_grants.get',
  route: 'GET /api/v1/plugin-action-grants/:id',
  summary: 'Read an assignment of an action, also one that has ended, with the owners that its revocation has to name',
  params: PluginParams,
  responses: { 200: GrantView },
  access: pluginReading,
  target: ({ em, params }) => findGrantWithPlace(em, params.id),
  accessTo: ({ grant }, { id }) => accessIfCovered(pluginReading, { isCovered: grant.subjectId === id }),
  targetName: 'plugin action grant',
  handle: async ({ target, operations, principal }) => ({
    ...viewGrant({ ...target.grant, isPlaceReadable: decide(principal, pluginReading, target).allowed }),
    actions: grantActions.describe({ operations, principal }, target),
  }),
});

export const assign = command({
  id: 'plugin_action_grants.create',
  route: 'POST /api/v1/plugin-action-grants',
  summary: 'Assign one action to a user or account at a place',
  description:
    'Read `grant-review` first: it gives the revisions and the owners to name. An assignment ends for good when what it relies on changes: the ' +
    'release, the ceiling, the membership of the subject, or the owners of the place.',
  body: AssignAction,
  responses: { 201: PluginReceipt },
  at: get,
  access: { ...pluginAdministration, hidden: 'invalid' },
  target: ({ em, body: { selector }, lock }) =>
    selector ? findPresentPlace(em, selector, lock) : Promise.resolve(undefined),
  targetName: 'selector',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_action_grant.created',
  handle: async ({ tx, principal, target: place, body }) => {
    const { subject, selector, expected_ownership: expectedOwnership } = body;
    const { action, target } = await lockAction(tx.em, body.action_id, place);
    const grant = await assignAction(tx, principal, {
      action,
      target,
      place,
      subject,
      expectedInstallationRevision: body.expected_installation_revision,
      expectedActionRevision: body.expected_action_revision,
      expectedOwnership,
    });
    return { id: grant.id, revision: grant.revision, after: { action: action.name, subject, selector } };
  },
});

export const revoke = command({
  id: 'plugin_action_grants.revoke',
  route: 'DELETE /api/v1/plugin-action-grants/:id',
  summary: 'Revoke an assignment, for good',
  params: PluginParams,
  body: ExpectedState,
  responses: { 200: PluginReceipt },
  at: get,
  access: pluginAdministration,
  target: ({ em, params, lock }) => findGrantWithPlace(em, params.id, lock),
  targetName: 'plugin action grant',
  idempotency: 'required',
  answersReceipt: true,
  audit: 'plugin_action_grant.revoked',
  handle: async ({ tx, principal, target, body }) => {
    const { grant } = target;
    const revision = await revokeGrant(tx, principal, grant, target, {
      expectedRevision: body.expected_revision,
      expectedOwnership: body.expected_ownership,
    });
    const before = { action: grant.actionName, subject_id: grant.subjectId, selector_id: grant.selectorId };
    return { id: grant.id, revision, members: { state: 'revoked' } as const, before };
  },
});

/** Locks the installation and the action. @throws Invalid for an action that cannot be used at the place, as if it did not exist */
async function lockAction(
  em: Em,
  id: string,
  place: Place,
): Promise<{ action: ActionDetails; target: InstallationTarget }> {
  const known = await findAction(em, id);
  const target = known && (await findInstallation(em, known.installationId, 'share'));
  const action = target && (await findAction(em, id, true));
  if (action && isOwnerInScope(target, place)) return { action, target };
  throw invalidField('action_id', 'no plugin that is installed for the selector has such an action');
}
