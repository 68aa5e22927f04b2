import type { Em } from '#database/database.ts';
import { emailKey } from '#domain/identity/model.ts';
import { isMemberByEmail } from '#domain/memberships/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { mayOffer, type Offer } from './policy.ts';
import type { InvitationWithStatus } from './status.ts';
import type { InvitationTarget } from './targets.ts';

/** An invitation with the facts for the rules about its actions. */
export type InvitationWithFacts = InvitationTarget & {
  /** Whether the address belongs to a member of the organization or team that the invitation offers. */
  readonly isMember: boolean;
  /** Whether the offered team was archived, deleted, or moved to another organization. */
  readonly hasClosedTeam: boolean;
};

export async function withInvitationFacts(em: Em, target: InvitationTarget): Promise<InvitationWithFacts> {
  const { teamId, organizationId, email } = target.invitation;
  const [isMember, team] = await Promise.all([
    isOfMember(em, target.invitation, email),
    teamId === null ? null : findTeamById(em, teamId, false),
  ]);
  const isOpen = team === null || (team?.organizationId === organizationId && team.archived.length === 0);
  return { ...target, isMember, hasClosedTeam: !isOpen };
}

/** Whether an address belongs to a member of what an invitation offers. */
export function isOfMember(em: Em, { organizationId, teamId }: Offer, email: string): Promise<boolean> {
  return isMemberByEmail(em, teamId ? 'team' : 'organization', teamId ?? organizationId, emailKey(email));
}

export const ungrantable = 'permission denied: the invitation offers a role that you cannot grant or revoke';

export const closedTeam: Refusal = {
  code: 'archived',
  message: 'the team that the invitation leads into is archived: unarchive it first',
};

export function memberRefusal({ teamId }: Pick<Offer, 'teamId'>): Refusal {
  const level = teamId ? 'team' : 'organization';
  return { code: 'already_member', message: `email: this is the address of a member of the ${level}` };
}

/** The refusal of a change of an invitation that has ended; null if it has not. */
export function findEndedRefusal({ status }: Pick<InvitationWithStatus, 'status'>): Refusal | null {
  if (status === 'accepted')
    return {
      code: 'invitation_accepted',
      message: 'the invitation has been accepted already: remove the member instead',
    };
  if (status !== 'revoked') return null;
  return {
    code: 'invitation_revoked',
    message: 'the invitation has been revoked already: send a new one if it is still wanted',
  };
}

/** Why a caller who may invite cannot send an invitation again; null if they can. */
export function findResendingRefusal(target: InvitationWithFacts, caller: Principal): Pick<Refusal, 'message'> | null {
  const { invitation, isMember, hasClosedTeam } = target;
  if (!mayOffer(caller, invitation)) return { message: ungrantable };
  return (
    findArchivedRefusal(target) ??
    findEndedRefusal(invitation) ??
    (isMember ? memberRefusal(invitation) : null) ??
    (hasClosedTeam ? closedTeam : null)
  );
}

/** Why a caller who may invite cannot revoke an invitation; null if they can. */
export function findRevokingRefusal(
  { invitation }: InvitationTarget,
  caller: Principal,
): Pick<Refusal, 'message'> | null {
  return mayOffer(caller, invitation) ? findEndedRefusal(invitation) : { message: ungrantable };
}
