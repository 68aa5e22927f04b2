import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findInvitation } from '#domain/invitations/status.ts';

/** What a mail says about an invitation. */
export interface InvitationFacts {
  readonly inviter: string;
  readonly organization: string;
  readonly team: string | null;
  readonly expiresAt: string;
}

/** Finds what a mail says about an invitation. Answers undefined once the invitation has ended or was sent again. */
export async function findInvitationToSend(
  em: Em,
  { invitationId, sentAt }: { readonly invitationId: string; readonly sentAt: string },
): Promise<InvitationFacts | undefined> {
  const invitation = await findInvitation(em, invitationId);
  if (invitation?.status !== 'open' || Date.parse(invitation.sentAt) !== Date.parse(sentAt)) return undefined;
  const names = await db(em)
    .selectFrom('organizations as o')
    .leftJoin('teams as t', (join) => join.on('t.id', '=', invitation.teamId))
    .where('o.id', '=', invitation.organizationId)
    .select(['o.name as organization', 't.name as team'])
    .executeTakeFirst();
  return names && { ...names, inviter: invitation.inviterName, expiresAt: invitation.expiresAt };
}
