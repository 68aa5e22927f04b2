import { z } from 'zod';
import { FairLimit } from '#api/edge/limits/fair-limit.ts';
import { explainDenial, isProtected } from '#api/pipeline/access/authorization.ts';
import { read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import {
  type ActionDetails,
  findAction,
  findSelectorRefusal,
  listActionsOf,
  listReadableActions,
} from '#domain/plugins/assignments/action-store.ts';
import {
  checkAction,
  checkReasons,
  describeReason,
  findObstacle,
  isCovered,
  obstacles,
} from '#domain/plugins/assignments/check.ts';
import { accessIfCovered, pluginListing, pluginReading } from '#domain/plugins/authority.ts';
import { findInstallation, type InstallationTarget } from '#domain/plugins/installations/store.ts';
import { isOwnerInScope } from '#domain/plugins/places/containment.ts';
import { OwnershipSnapshot } from '#domain/plugins/places/ownership-snapshot.ts';
import { findPresentPlace, type Place } from '#domain/plugins/places/place-store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { HiddenReference, NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { inSnapshot } from '#domain/shared/snapshot.ts';
import { ActionQuestion } from './bodies.ts';
import { assign } from './grant-operations.ts';
import { PluginParams } from './installation-operations.ts';
import { ActionView, reasonOf, viewAction } from './views.ts';

/** The subject of the list of actions: one installation or, if `installation` is null, all that the caller may read. */
type Listed = (Ownership & { readonly installation: null }) | InstallationTarget;

async function findListed(em: Em, id: string | undefined): Promise<Listed | undefined> {
  return id === undefined ? { ...installationOwnership, installation: null } : findInstallation(em, id);
}

export const list = read({
  id: 'plugin_actions.list',
  route: 'GET /api/v1/plugin-actions',
  summary: 'List the actions of the installed plugins that you may read, also those that a release no longer declares',
  query: z.strictObject({
    ...pageQuery,
    installation_id: Id.optional().describe(
      'Only those of this plugin. Without it, the list has those of all plugins that were not removed.',
    ),
  }),
  responses: { 200: pageOf('actions', ActionView) },
  access: pluginReading,
  target: ({ em, query: { installation_id: id } }) => findListed(em, id),
  accessTo: ({ installation }) => (installation === null ? pluginListing : pluginReading),
  targetName: 'plugin installation',
  handle: async ({ em, principal, target: { installation }, query: { installation_id: _, ...request } }) => {
    const page =
      installation === null
        ? await listReadableActions(em, principal, request)
        : await listActionsOf(em, installation.id, request);
    return { actions: page.items.map(viewAction), next_cursor: page.nextCursor };
  },
});

/**
 * A question reads many rows in a snapshot. The service answers one question of each person at a time, so that nobody can take all
 * connections.
 */
const questions = new FairLimit({ running: 4, waiting: 50 });

/** The declarations of questions about an action at a place that the caller may read. */
const askedPlace = {
  turns: questions,
  params: PluginParams,
  body: ActionQuestion,
  access: { ...pluginReading, hidden: 'invalid' },
  targetName: 'selector',
  idempotency: 'checked',
} as const;

export const check = read({
  ...askedPlace,
  id: 'plugin_actions.check',
  route: 'POST /api/v1/plugin-actions/:id/check',
  summary: 'Ask whether you may use an action at a place now',
  description:
    'It answers for you alone, admits nothing and reserves nothing: the answer may be another one a moment later. `reason` says what is in the way.',
  target: async ({ em, params, body, callerId: subjectId }) => {
    const place = await findAskedPlace(em, body);
    return place && { ...place, isCovered: await isCovered(em, { of: { actionId: params.id }, subjectId, place }) };
  },
  accessTo: (place) => accessIfCovered(askedPlace.access, place),
  responses: {
    200: z.object({ allowed: z.boolean(), reason: reasonOf(checkReasons) }).meta({ id: 'PluginActionCheck' }),
  },
  handle: ({ em, params, body, principal }) =>
    inSnapshot(em, async (snapshot) => {
      const { place, action, target } = await readQuestion(snapshot, params.id, body);
      return checkAction(snapshot, { action, target, place, subjectId: principal.id });
    }),
});

const reviewReasons = {
  permission_denied: 'you may not assign actions there',
  ...obstacles,
  selector_not_declared: 'the action is not declared for such a place',
} as const;

export const reviewGrant = read({
  ...askedPlace,
  id: 'plugin_actions.review_grant',
  route: 'POST /api/v1/plugin-actions/:id/grant-review',
  summary: 'Ask whether you may assign an action at a place, and what the assignment has to name',
  target: ({ em, body }) => findAskedPlace(em, body),
  responses: {
    200: z
      .object({
        may_grant: z.boolean(),
        reason: reasonOf(reviewReasons).nullable().describe('What is in the way; null: nothing.'),
        installation_revision: z.int().describe('For `expected_installation_revision`.'),
        action_revision: z.int().describe('For `expected_action_revision`.'),
        ownership: OwnershipSnapshot.describe('For `expected_ownership`.'),
      })
      .meta({ id: 'PluginGrantReview' }),
  },
  handle: ({ em, params, body, principal }) =>
    inSnapshot(em, async (snapshot) => {
      const { place, action, target } = await readQuestion(snapshot, params.id, body);
      const reason = explainAuthority(principal, place) ?? (await explainObstacle(snapshot, { action, target, place }));
      return {
        may_grant: reason === null,
        reason,
        installation_revision: target.installation.revision,
        action_revision: action.revision,
        ownership: place.ownership,
      };
    }),
});

/** Finds the place of a question. A body that was not validated yet names none. */
function findAskedPlace(em: Em, { selector }: Partial<z.output<typeof ActionQuestion>>): Promise<Place | undefined> {
  return selector ? findPresentPlace(em, selector) : Promise.resolve(undefined);
}

/** Reads the place and the action of a question in one snapshot. The place may have been deleted after the access check. */
async function readQuestion(em: Em, actionId: string, question: z.output<typeof ActionQuestion>) {
  const place = await findAskedPlace(em, question);
  if (!place) throw new HiddenReference('selector');
  return { place, ...(await findActionFor(em, actionId, place)) };
}

/**
 * Finds an action for a caller who may read a place of the organization or team that installed its plugin. @throws NotFound for all others
 */
async function findActionFor(
  em: Em,
  id: string,
  place: Place,
): Promise<{ action: ActionDetails; target: InstallationTarget }> {
  const action = await findAction(em, id);
  const target = action && (await findInstallation(em, action.installationId));
  if (action && target && isOwnerInScope(target, place)) return { action, target };
  throw new NotFound('plugin action');
}

function explainAuthority(principal: Parameters<typeof explainDenial>[1], place: Place) {
  const message = isProtected(assign) ? explainDenial(assign, principal, place) : null;
  return message === null ? null : ({ code: 'permission_denied', message } as const);
}

async function explainObstacle(
  em: Em,
  { action, target, place }: { action: ActionDetails; target: InstallationTarget; place: Place },
) {
  const obstacle = await findObstacle(em, { action, target, place });
  if (obstacle !== null) return { code: obstacle, message: describeReason(obstacle).message };
  const message = findSelectorRefusal(action, place.selector);
  return message === null ? null : ({ code: 'selector_not_declared', message } as const);
}
