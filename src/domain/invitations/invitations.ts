import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { emailKey } from '#domain/identity/model.ts';
import { type MemberTable, organizationMembers, teamMembers } from '#domain/members/members.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { parseDuration } from '#domain/shared/durations.ts';
import { Conflict, Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { readBack } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import { defaultInvitationLifetime, type InviteToOrganization, type InviteToTeam } from './model.ts';
import { mayOffer, mayOfferOrganization, type Offer } from './policy.ts';
import { findInvitation, findPending, type Invitation } from './targets.ts';
import { generateToken, hashToken } from './token.ts';

/** An invitation that was just sent; the token is nowhere else. */
export interface SentInvitation {
  readonly invitation: Invitation;
  readonly token: string;
}

/**
 * Invites an address into an organization and, where one is given, into a team of it. The caller of this function shares
 * their rows until the commit.
 * @throws Forbidden for a role that the inviter may not grant
 * @throws Conflict for something archived, for a member, and for an address that has an open invitation
 */
export function inviteToOrganization(
  em: Em,
  inviter: Principal,
  organization: OrganizationTarget,
  team: TeamTarget | null,
  request: z.output<typeof InviteToOrganization>,
): Promise<SentInvitation> {
  const offer: Offer = {
    ...{ organizationId: organization.id, role: request.role },
    ...{ teamId: team?.id ?? null, teamRole: team ? (request.team_role ?? 'member') : null },
  };
  refuseUngrantable(inviter, offer);
  refuseArchived(team ?? organization);
  return invite(em, inviter, offer, request);
}

/**
 * Invites an address into a team. It becomes a member of the organization as well where the inviter may make it one; from
 * anybody else the invitation is for those who are in the organization. Throws as `inviteToOrganization` does.
 */
export async function inviteToTeam(
  em: Em,
  inviter: Principal,
  team: TeamTarget,
  request: z.output<typeof InviteToTeam>,
): Promise<SentInvitation> {
  const { id: teamId, organizationId } = team;
  const offer: Offer = { organizationId, teamId, teamRole: request.role, role: 'member' };
  refuseUngrantable(inviter, { ...offer, role: null });
  refuseArchived(team);
  if (mayOfferOrganization(inviter, offer)) return invite(em, inviter, offer, request);
  if (!(await isMember(em, organizationMembers, organizationId, request.email))) {
    throw new Conflict(
      'nobody with this address is in the organization: one of its admins may invite them there, and into this team as well',
    );
  }
  return invite(em, inviter, { ...offer, role: null }, request);
}

async function invite(
  em: Em,
  inviter: Principal,
  offer: Offer,
  { email, expires_in: lifetime }: { email: string; expires_in?: string | undefined },
): Promise<SentInvitation> {
  await refuseMember(em, offer, email);
  const [id, token] = [newId(), generateToken()];
  await makeRoom(em, offer, email);
  try {
    await em.execute(
      `insert into invitations (id, organization_id, team_id, email, email_key, role, team_role, verifier, created_at,
              sent_at, expires_at, invited_by, inviter_generation, organization_generation, team_generation)
       values (?, ?, ?, ?, ?, ?, ?, ?, ${sentNow})`,
      [
        ...[id, offer.organizationId, offer.teamId, email, emailKey(email), offer.role, offer.teamRole],
        ...[hashToken(token), ...sentBy(inviter, offer, lifetime)],
      ],
    );
  } catch (error) {
    if (brokenConstraint(error) === 'invitations_open_unique') throw alreadyInvited();
    throw error;
  }
  return { token, invitation: await readBack(findInvitation(em, id)) };
}

/** Who vouches for it, since when and until when, and for which generations of everybody concerned. */
const sentNow = `now(), now(), now() + make_interval(secs => ?), ?,
  (select eligibility_generation from principals where id = ?),
  (select eligibility_generation from organizations where id = ?), (select eligibility_generation from teams where id = ?)`;

function sentBy({ id }: Principal, { organizationId, teamId }: Offer, lifetime?: string | undefined): unknown[] {
  const seconds = parseDuration(lifetime ?? defaultInvitationLifetime);
  return [seconds, id, id, organizationId, teamId];
}

/**
 * Sends an invitation again: another token, which voids the one before, and as long to use it as at first. From now on it
 * is the sender who vouches for it. The caller of this function holds its row.
 * @throws Forbidden, Conflict
 */
export async function resendInvitation(
  em: Em,
  sender: Principal,
  owner: OrganizationTarget | TeamTarget,
  invitation: Invitation,
): Promise<SentInvitation> {
  refuseUngrantable(sender, invitation);
  refuseArchived(owner);
  refuseEnded(invitation);
  await refuseMember(em, invitation, invitation.email);
  const token = generateToken();
  await em.execute(
    `update invitations set revision = revision + 1, verifier = ?,
            (sent_at, expires_at, invited_by, inviter_generation, organization_generation, team_generation) =
            (now(), now() + (expires_at - sent_at), ?, (select eligibility_generation from principals where id = ?),
             (select eligibility_generation from organizations where id = ?),
             (select eligibility_generation from teams where id = ?))
      where id = ?`,
    [hashToken(token), sender.id, sender.id, invitation.organizationId, invitation.teamId, invitation.id],
  );
  const sent = await readBack(findInvitation(em, invitation.id));
  if (sent.status !== 'open')
    throw new Conflict('the team that the invitation leads into is archived: unarchive it first');
  return { token, invitation: sent };
}

/** Takes an invitation back; its token is worth nothing from now on. @throws Forbidden, Conflict */
export async function revokeInvitation(em: Em, caller: Principal, invitation: Invitation): Promise<void> {
  refuseUngrantable(caller, invitation);
  refuseEnded(invitation);
  await em.execute('update invitations set revoked_at = now(), revision = revision + 1 where id = ?', [invitation.id]);
}

/** Takes back what somebody who is leaving has sent: rejoining revives none of it. */
export async function revokeSent(
  em: Em,
  { organizationId, teamId }: { organizationId: string; teamId: string | null },
  inviterId: string,
): Promise<void> {
  await em.execute(
    `update invitations set revoked_at = now(), revision = revision + 1
      where invited_by = ? and organization_id = ? and team_id is not distinct from coalesce(?, team_id)
        and accepted_at is null and revoked_at is null`,
    [inviterId, organizationId, teamId],
  );
}

function refuseEnded({ status }: Invitation): void {
  if (status === 'accepted' || status === 'revoked') {
    throw new Conflict(`the invitation has been ${status} already: send a new one if it is still wanted`);
  }
}

function refuseUngrantable(giver: Principal, offer: Offer): void {
  if (mayOffer(giver, offer)) return;
  throw new Forbidden('permission denied: the invitation offers a role that is not yours to give or take');
}

async function refuseMember(em: Em, { organizationId, teamId }: Offer, email: string): Promise<void> {
  const isThere = teamId
    ? await isMember(em, teamMembers, teamId, email)
    : await isMember(em, organizationMembers, organizationId, email);
  if (isThere) throw new Conflict(`email: this is the address of a member of the ${teamId ? 'team' : 'organization'}`);
}

async function isMember(em: Em, { table, owner }: MemberTable, ownerId: string, email: string): Promise<boolean> {
  const [row] = await em.execute<[{ exists: boolean }]>(
    `select exists (select 1 from users u join ${table} m on m.principal_id = u.id
                     where u.email_key = ? and m.${owner} = ?)`,
    [emailKey(email), ownerId],
  );
  return row.exists;
}

/** One address has one open invitation; one that no longer opens anything makes room for another. */
async function makeRoom(em: Em, { organizationId, teamId }: Offer, email: string): Promise<void> {
  const pending = await findPending(em, { organizationId, teamId, emailKey: emailKey(email) });
  if (pending?.status === 'open') throw alreadyInvited();
  if (pending) await em.execute('update invitations set revoked_at = now() where id = ?', [pending.id]);
}

function alreadyInvited(): Conflict {
  return new Conflict('email: this address is invited already: send that invitation again, or revoke it first');
}
