import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { hasVerifiedEmail } from '#domain/identity/email-confirmations/store.ts';
import { emailKey } from '#domain/identity/model.ts';
import { addMember, findMember } from '#domain/memberships/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, HiddenResource } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { Invitation } from './entity.ts';
import { findInvitation, type InvitationWithStatus } from './status.ts';

const unverified =
  'your e-mail address is not confirmed: confirm it with the token that was sent to it, or ask an administrator to confirm it';

/**
 * Makes the invited person a member. For everybody else the invitation does not exist, even if they hold its token. Existing memberships
 * stay as they are. The caller of this function has locked the rows of invitation, inviter, organization and team.
 * @throws HiddenResource for anybody but the invited person
 * @throws Conflict if the person's address is not confirmed, if the invitation is no longer open, or the person is a member already
 */
export async function acceptInvitation(
  em: Em,
  person: Principal,
  invitation: InvitationWithStatus,
): Promise<InvitationWithStatus> {
  if (person.email === null || emailKey(person.email) !== invitation.emailKey) throw new HiddenResource('invitation');
  refuseEnded(person, invitation);
  if (!(await hasVerifiedEmail(em, person.id))) throw new Conflict(unverified, 'email_unverified');
  const joined = [await joinOrganization(em, person, invitation), await joinTeam(em, person, invitation)];
  if (!joined.includes(true))
    throw new Conflict('you are a member already: there is nothing to accept', 'already_member');
  (await readForChange(em, Invitation, { id: invitation.id })).accept(person.id);
  await em.flush();
  return readBack(findInvitation(em, invitation.id));
}

function refuseEnded({ id }: Principal, { status, acceptedBy }: InvitationWithStatus): void {
  if (status === 'open') return;
  if (status === 'accepted') {
    if (acceptedBy === id) throw new Conflict('you have accepted this invitation already', 'invitation_accepted');
    throw new HiddenResource('invitation');
  }
  const why = {
    expired: 'has expired',
    revoked: 'was revoked',
    void: 'is no longer valid, because its organization, its team or its inviter has changed since it was sent',
  };
  throw new Conflict(`the invitation ${why[status]}; ask for a new one`, `invitation_${status}`);
}

async function joinOrganization(
  em: Em,
  { id }: Principal,
  { organizationId, role }: InvitationWithStatus,
): Promise<boolean> {
  if (await findMember(em, 'organization', organizationId, id)) return false;
  if (role === null) {
    throw new Conflict(
      'the invitation is for members of the organization: ask one of its admins to invite you there',
      'not_in_organization',
    );
  }
  await addMember(em, 'organization', { ownerId: organizationId, principalId: id, role });
  return true;
}

async function joinTeam(em: Em, { id }: Principal, { teamId, teamRole }: InvitationWithStatus): Promise<boolean> {
  if (teamId === null || teamRole === null || (await findMember(em, 'team', teamId, id))) return false;
  await addMember(em, 'team', { ownerId: teamId, principalId: id, role: teamRole });
  return true;
}
