import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { readForChange } from '#database/row-lock.ts';
import { refuseOutliving } from '#domain/identity/api-keys/bounds.ts';
import { emailKey } from '#domain/identity/model.ts';
import { isMemberByEmail } from '#domain/memberships/store.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Conflict, Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { readBack } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { closedTeam, findEndedRefusal, isOfMember, memberRefusal, ungrantable } from './actions.ts';
import { insertInvitation, renewInvitation } from './change-store.ts';
import { Invitation } from './entity.ts';
import type { OrganizationInvitation, TeamInvitation } from './model.ts';
import { mayOffer, mayOfferOrganization, type Offer } from './policy.ts';
import { findInvitation, findPending, type InvitationWithStatus } from './status.ts';
import { generateToken, hashToken } from './token.ts';

/** An invitation that was just sent, with its token, which is not stored. */
export interface SentInvitation {
  readonly invitation: InvitationWithStatus;
  readonly token: string;
}

/**
 * Invites an address into an organization and, if requested, into one of its teams. The caller of this function holds share locks on their
 * rows until the commit.
 * @throws Forbidden for a role that the inviter may not grant, and for an invitation that outlives the key that the inviter uses
 * @throws Conflict for something archived, for a member, and for an address that has an open invitation
 */
export function inviteToOrganization(
  em: Em,
  inviter: Principal,
  organization: OrganizationTarget,
  team: TeamTarget | null,
  request: OrganizationInvitation,
): Promise<SentInvitation> {
  const offer: Offer = {
    organizationId: organization.id,
    role: request.role,
    teamId: team?.id ?? null,
    teamRole: team ? (request.teamRole ?? 'member') : null,
  };
  refuseUngrantable(inviter, offer);
  refuseArchived(team ?? organization);
  return invite(em, inviter, offer, request);
}

/**
 * Invites an address into a team. An inviter who may invite into the organization as well does so; other inviters can only
 * invite members of the organization. Throws as `inviteToOrganization` does.
 */
export async function inviteToTeam(
  em: Em,
  inviter: Principal,
  team: TeamTarget,
  request: TeamInvitation,
): Promise<SentInvitation> {
  const { id: teamId, organizationId } = team;
  const offer: Offer = { organizationId, teamId, teamRole: request.role, role: 'member' };
  refuseUngrantable(inviter, { ...offer, role: null });
  refuseArchived(team);
  if (mayOfferOrganization(inviter, offer)) return invite(em, inviter, offer, request);
  if (!(await isMemberByEmail(em, 'organization', organizationId, emailKey(request.email)))) {
    throw new Conflict(
      'no member of the organization has this address: an admin of the organization can invite the person there, and into this team as well',
      'not_in_organization',
    );
  }
  return invite(em, inviter, { ...offer, role: null }, request);
}

async function invite(
  em: Em,
  inviter: Principal,
  offer: Offer,
  { email, lifetimeSeconds }: OrganizationInvitation | TeamInvitation,
): Promise<SentInvitation> {
  await refuseLasting(em, inviter, lifetimeSeconds * 1000);
  await refuseMember(em, offer, email);
  const [id, token] = [newId(), generateToken()];
  const verifier = hashToken(token);
  const invitation = { ...offer, id, email, emailKey: emailKey(email), verifier, lifetimeSeconds };
  await makeRoom(em, offer, email);
  try {
    await insertInvitation(em, inviter.id, invitation);
  } catch (error) {
    if (brokenConstraint(error) === 'invitations_open_unique') throw alreadyInvited();
    throw error;
  }
  return { token, invitation: await readBack(findInvitation(em, id)) };
}

/**
 * Sends an invitation again with a new token, which is valid for the original lifetime. The old token becomes invalid, and the sender
 * becomes the inviter. The caller of this function has locked the invitation's row.
 * @throws Forbidden for a role that the sender may not grant, and for an invitation that outlives the key that the sender uses
 * @throws Conflict for something archived, for a member, and for an invitation that was accepted or revoked
 */
export async function resendInvitation(
  em: Em,
  sender: Principal,
  owner: OrganizationTarget | TeamTarget,
  invitation: InvitationWithStatus,
): Promise<SentInvitation> {
  refuseUngrantable(sender, invitation);
  await refuseLasting(em, sender, Date.parse(invitation.expiresAt) - Date.parse(invitation.sentAt));
  refuseArchived(owner);
  throwIfRefused(findEndedRefusal(invitation));
  await refuseMember(em, invitation, invitation.email);
  const token = generateToken();
  await renewInvitation(em, sender.id, invitation, hashToken(token));
  const sent = await readBack(findInvitation(em, invitation.id));
  if (sent.status !== 'open') throw new ActionRefused(closedTeam);
  return { token, invitation: sent };
}

/**
 * Revokes an invitation; its token becomes invalid.
 * @throws Forbidden for a role that the caller may not grant
 * @throws Conflict if it was accepted or revoked already
 */
export async function revokeInvitation(em: Em, caller: Principal, invitation: InvitationWithStatus): Promise<void> {
  refuseUngrantable(caller, invitation);
  throwIfRefused(findEndedRefusal(invitation));
  (await readForChange(em, Invitation, { id: invitation.id })).revoke();
  await em.flush();
}

/** @throws Forbidden if the invitation could be accepted after the sender's key has expired */
async function refuseLasting(em: Em, sender: Principal, lifetimeMs: number): Promise<void> {
  await refuseOutliving(em, sender, 'invitation', new Date(Date.now() + lifetimeMs));
}

function refuseUngrantable(giver: Principal, offer: Offer): void {
  if (mayOffer(giver, offer)) return;
  throw new Forbidden(ungrantable);
}

async function refuseMember(em: Em, offer: Offer, email: string): Promise<void> {
  if (await isOfMember(em, offer, email)) throw new ActionRefused(memberRefusal(offer));
}

/** Makes sure that an address has only one open invitation: refuses a second one, and revokes an earlier one that is void or expired. */
async function makeRoom(em: Em, { organizationId, teamId }: Offer, email: string): Promise<void> {
  const pending = await findPending(em, { organizationId, teamId, emailKey: emailKey(email) });
  if (pending?.status === 'open') throw alreadyInvited();
  if (!pending) return;
  (await readForChange(em, Invitation, { id: pending.id })).revokedAt = new Date();
  await em.flush();
}

function alreadyInvited(): Conflict {
  return new Conflict(
    'email: this address is invited already: send that invitation again, or revoke it first',
    'already_invited',
  );
}
