import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { followAuthority } from '#domain/following/authority.ts';
import { setFollow } from '#domain/following/follow-changes.ts';
import { type Follow, findFollow, stopReason } from '#domain/following/follows-store.ts';
import { type FollowReason, followReasons } from '#domain/following/model.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { followActions } from './actions.ts';
import { SetFollow } from './bodies.ts';
import { accessReview, InstanceParams, readAccess } from './operations.ts';

const reasons = Object.keys(followReasons) as [FollowReason, ...FollowReason[]];

const FollowView = z
  .object({
    enabled: z.boolean(),
    authority: z
      .object({ type: z.string(), id: AnswerId, name: z.string() })
      .nullable()
      .describe('The person or service account that last saved this. Its runs start with their permissions.'),
    stopped_because: z
      .enum(reasons)
      .nullable()
      .describe('Why it follows nothing although it is enabled. It resumes once the setting is saved again.'),
    failure: z
      .object({ reason: z.enum(reasons), message: z.string(), at: Time })
      .nullable()
      .describe('Why it did not follow the last change.'),
    revision: z.int().describe('Of the instance.'),
    actions: followActions.view,
  })
  .meta({ id: 'InstanceFollow' });

function toFollow(follow: Follow | undefined) {
  if (!follow) return { enabled: false, authority: null, stopped_because: null, failure: null };
  const { authorityType: type, authorityId: id, authorityName: name, failure } = follow;
  return { enabled: true, authority: { type, id, name }, stopped_because: stopReason(follow), failure };
}

export const getFollow = read({
  id: 'instances.get_follow',
  route: 'GET /api/v1/instances/:id/follow',
  summary: 'Read whether an instance follows the outputs that it was deployed with',
  params: InstanceParams,
  responses: { 200: FollowView },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, target, ...context }) => {
    const { revision } = target;
    return { ...toFollow(await findFollow(em, params.id)), revision, actions: followActions.describe(context, target) };
  },
});

export const replaceFollow = command({
  id: 'instances.set_follow',
  route: 'PUT /api/v1/instances/:id/follow',
  summary: 'Let an instance follow the outputs that it was deployed with, or end it',
  description:
    'After an apply of an instance whose outputs it was given, and which are other ones now, an instance that follows gets a run: an apply of its deployed version ' +
    'with its deployed variables and the outputs of today. It starts with the permissions of the person who last saved this, and waits for the same approvals as any other.',
  params: InstanceParams,
  body: SetFollow,
  responses: { 200: FollowView },
  at: getFollow,
  access: {
    ...followAuthority,
    installation: 'administrators',
    review: { ...accessReview, verb: 'set_follow' },
  },
  target: findInstance,
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.follow_changed',
  handle: async ({ tx, target, body, principal }) => {
    const change = { isEnabled: body.enabled, expectedRevision: body.expected_revision };
    const { wasEnabled, revision } = await setFollow(tx, target, change, principal);
    return { id: target.id, before: { enabled: wasEnabled }, after: { enabled: body.enabled }, revision };
  },
});
