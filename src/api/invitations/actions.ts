import type { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import {
  findResendingRefusal,
  findRevokingRefusal,
  type InvitationWithFacts,
  withInvitationFacts,
} from '#domain/invitations/actions.ts';
import type { InvitationTarget } from '#domain/invitations/targets.ts';
import type { MembershipLevel } from '#domain/memberships/model.ts';
import { InvitationView, viewInvitation } from './views.ts';

const actionsAt = (level: MembershipLevel) =>
  actionsOf<InvitationWithFacts>()({
    resend: { operation: `${level}_invitations.resend`, findRefusal: findResendingRefusal },
    revoke: { operation: `${level}_invitations.revoke`, findRefusal: findRevokingRefusal },
  });

/** What a caller may do with an invitation, by the level whose path names it. */
const invitationActions = { organization: actionsAt('organization'), team: actionsAt('team') };

/** One invitation, with what the caller may do with it. */
export const InvitationDetailsView = InvitationView.extend({ actions: invitationActions.organization.view }).meta({
  id: 'InvitationDetails',
});

/** Shows one invitation with the actions that the caller may take. */
export async function showInvitation(
  em: Em,
  context: ActionContext,
  level: MembershipLevel,
  target: InvitationTarget,
): Promise<z.input<typeof InvitationDetailsView>> {
  const actions = invitationActions[level].describe(context, await withInvitationFacts(em, target));
  return { ...viewInvitation(target.invitation), actions };
}
