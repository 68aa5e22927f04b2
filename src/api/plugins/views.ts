import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, codeOf, Time } from '#api/pipeline/schemas.ts';
import type { ActionDetails } from '#domain/plugins/assignments/action-store.ts';
import { type EndCode, ends, findEnd, findEndRecord } from '#domain/plugins/assignments/basis.ts';
import type { GrantForReader } from '#domain/plugins/assignments/store.ts';
import {
  type BackgroundDetails,
  backgroundEnds,
  backgroundStates,
  findBackgroundEnd,
} from '#domain/plugins/background/store.ts';
import { Selector, Subject, selectorTypes } from '#domain/plugins/model.ts';
import { OwnershipSnapshot } from '#domain/plugins/places/ownership-snapshot.ts';
import { backgroundActions, grantActions } from './actions.ts';

/** The answer of every plugin command (specification, *Plugin authority*, rule 2). */
export const PluginReceipt = z
  .object({
    id: AnswerId,
    revision: z.int(),
    state: z.enum(['staged', 'revoked', 'deleted']).optional(),
    audit_record_id: AnswerId,
  })
  .meta({ id: 'PluginReceipt' });

/** The schema of a reason. `messages` has the possible codes, and the document explains each of them. */
export function reasonOf<Code extends string>(messages: Readonly<Record<Code, string>>) {
  return z.object({ code: codeOf(messages), message: z.string() });
}

const endParts = {
  at: Time.nullable().describe(
    'When the reason first applied. Null: that was before the service wrote such times down.',
  ),
  by: AnswerId.nullable().describe(
    'Who revoked it, removed the plugin, activated the release or replaced the ceiling. Null: the audit knows, or you may not read the place.',
  ),
};

/** The owners of a resource, for the commands that change it. */
export const ownedParts = { ownership: OwnershipSnapshot.describe('For `expected_ownership`.') };

export const ActionView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    name: z.string(),
    selectors: z.array(z.enum(selectorTypes)).describe('Where the action may be assigned.'),
    effects: z.array(z.string()),
    declared: z
      .boolean()
      .describe('Whether the active release declares it. A plugin that was removed declares nothing.'),
    approved: z.boolean().describe('Whether the ceiling approves it for the active release.'),
    revision: z.int(),
  })
  .meta({ id: 'PluginAction' });

export function viewAction(action: ActionDetails): z.input<typeof ActionView> {
  const { isDeclared, isApproved } = action;
  return answerOf(ActionView.shape, { ...action, declared: isDeclared, approved: isApproved });
}

export const ListedGrantView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    action: z.object({ id: AnswerId, name: z.string() }),
    subject: z.object({ ...Subject.shape, name: z.string() }),
    selector: Selector,
    in_force: z.boolean(),
    ended: reasonOf(ends)
      .extend({ ...endParts, others: z.array(z.string()).describe('The codes of what else would have ended it.') })
      .nullable()
      .describe('Why it is no longer in force. It never is again: assign the action anew.'),
    granted_by: AnswerId,
    created_at: Time,
    revoked_at: Time.nullable(),
    revoked_by: AnswerId.nullable().describe('Null: it was not revoked, though it may have ended otherwise.'),
    revision: z.int(),
    ownership: OwnershipSnapshot.nullable().describe(
      'For `expected_ownership`. Null: the assignment is your own, and you may not read its place.',
    ),
  })
  .meta({ id: 'ListedPluginActionGrant' });

export const GrantView = z
  .object({ ...ListedGrantView.shape, actions: grantActions.view })
  .meta({ id: 'PluginActionGrant' });

export function viewGrant(grant: GrantForReader): z.input<typeof ListedGrantView> {
  const ended = findEnd(grant, grant.standing);
  return answerOf(ListedGrantView.shape, {
    ...grant,
    action: { id: grant.actionId, name: grant.actionName },
    subject: { type: grant.subjectType, id: grant.subjectId, name: grant.subjectName },
    selector: { type: grant.selectorType, id: grant.selectorId },
    inForce: ended === null,
    ended: ended && { ...ended, ...endOf(ended.code, grant), others: [...ended.others] },
    ownership: grant.isPlaceReadable ? grant.ownership : null,
  });
}

function endOf(code: EndCode, { isPlaceReadable, ...grant }: GrantForReader) {
  const { at = null, by = null } = findEndRecord(code, grant) ?? {};
  return { at, by: isPlaceReadable ? by : null };
}

export const ListedBackgroundPrincipalView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    name: z.string(),
    selector: Selector.describe('Where it may be assigned actions.'),
    state: z
      .enum(backgroundStates)
      .describe(
        '`ended`: the plugin was removed, or its place is no longer what it was approved for. It may be assigned nothing any more.',
      ),
    ended: reasonOf(backgroundEnds)
      .extend(endParts)
      .nullable()
      .describe('Why it is not active. It never is again: approve another one.'),
    approved_by: AnswerId,
    created_at: Time,
    revoked_at: Time.nullable(),
    revoked_by: AnswerId.nullable(),
    revision: z.int(),
    ...ownedParts,
  })
  .meta({ id: 'ListedPluginBackgroundPrincipal' });

export const BackgroundPrincipalView = z
  .object({ ...ListedBackgroundPrincipalView.shape, actions: backgroundActions.view })
  .meta({ id: 'PluginBackgroundPrincipal' });

export function viewBackground(background: BackgroundDetails) {
  const { selectorType, selectorId } = background;
  const ended = findBackgroundEnd(background);
  return answerOf(ListedBackgroundPrincipalView.shape, {
    ...background,
    selector: { type: selectorType, id: selectorId },
    state: ended === null ? 'active' : ended.code === 'revoked' ? 'revoked' : 'ended',
    ended,
  });
}
