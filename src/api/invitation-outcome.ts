import type { Invitation } from '#domain/organizations/invitation-targets.ts';
import type { SentInvitation } from '#domain/organizations/invitations.ts';
import type { Outcome } from '#domain/shared/command.ts';
import { viewInvitation } from './views/invitations.ts';

/** What sending leaves: the answer holds the token, and nothing else does. */
export function sentOutcome(
  action: 'invitation.created' | 'invitation.resent',
  { invitation, token }: SentInvitation,
  location: string,
): Outcome {
  return {
    ...{ status: action === 'invitation.created' ? 201 : 200, location, revision: invitation.revision },
    body: { invitation: viewInvitation(invitation), token },
    audit: invitationAudit(action, invitation),
  };
}

export function revokedOutcome(invitation: Invitation): Outcome {
  return { status: 204, revision: invitation.revision + 1, audit: invitationAudit('invitation.revoked', invitation) };
}

export function invitationAudit(action: string, invitation: Invitation) {
  const { id, organizationId, teamId, email, role, teamRole } = invitation;
  return {
    ...{ action, resource: { type: 'invitations', id }, organizationId, teamId },
    after: { email, role, team_role: teamRole, expires_at: invitation.expiresAt },
  };
}
