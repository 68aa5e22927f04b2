import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Emailed, Time } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import type { SentInvitation } from '#domain/invitations/invitations.ts';
import { invitationStatuses } from '#domain/invitations/model.ts';
import type { InvitationWithStatus } from '#domain/invitations/status.ts';
import { mailInvitation } from '#domain/messages/queue/account-mail.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { limitSubjectOf } from '#domain/shared/tasks/limit-subject.ts';
import { organizationRoles, teamRoles } from '#domain/shared/vocabulary/roles.ts';

export const InvitationView = z
  .object({
    id: AnswerId,
    organization_id: AnswerId,
    team_id: AnswerId.nullable(),
    email: z.string(),
    role: z
      .enum(organizationRoles)
      .nullable()
      .describe('Null: the invitation is only for members of the organization.'),
    team_role: z.enum(teamRoles).nullable(),
    status: z
      .enum(invitationStatuses)
      .describe('`void`: its inviter may no longer grant it, or its organization or team was archived or transferred.'),
    invited_by: z.object({ id: AnswerId, name: z.string() }),
    created_at: Time,
    sent_at: Time,
    expires_at: Time,
    accepted_at: Time.nullable(),
    accepted_by: z.string().nullable(),
    revoked_at: Time.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'Invitation' });

export const SentInvitationView = z
  .object({
    invitation: InvitationView,
    token: z.string().describe('Shown only once. Give it to the invited person, who accepts with it.'),
    emailed: Emailed,
  })
  .meta({ id: 'SentInvitation' });

export function viewInvitation(invitation: InvitationWithStatus) {
  const invitedBy = { id: invitation.invitedBy, name: invitation.inviterName };
  return answerOf(InvitationView.shape, { ...invitation, invitedBy });
}

/** An invitation as the audit stores it, with its owners, because the path of an organization does not name the team. */
export function describeInvitation(invitation: InvitationWithStatus) {
  const { id, email, role, teamRole, expiresAt, revision } = invitation;
  return { id, owners: invitation, after: { email, role, teamRole, expiresAt }, revision };
}

/** The change of a command that sent an invitation. Only its answer, and the mail to the invited address, contain the token. */
export async function sentChange(em: Em, { config, keyRing }: Services, principal: Principal, sent: SentInvitation) {
  const sender = { em, keyRing, subject: limitSubjectOf(principal, sent.invitation) };
  const emailed = config.mail !== null && (await mailInvitation(sender, sent));
  const { invitation, token } = sent;
  return { ...describeInvitation(invitation), answer: { invitation: viewInvitation(invitation), token, emailed } };
}
