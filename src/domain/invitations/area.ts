import { InvitationSchema } from './entity.ts';
import { invitationKinds } from './ownership.ts';

export const entities = [InvitationSchema] as const;
export const ownership = invitationKinds;

export const errorCodes = {
  already_invited: 'The e-mail address has an open invitation.',
  invitation_accepted: 'The invitation was accepted already.',
  invitation_revoked: 'The invitation was revoked.',
  invitation_expired: 'The invitation has expired.',
  invitation_void: 'The organization, the team or the inviter of the invitation has changed since it was sent.',
} as const;
