import { own } from '#api/identity/session-operations.ts';
import { command } from '#api/pipeline/operation.ts';
import { acceptInvitation } from '#domain/invitations/acceptance.ts';
import { findByToken } from '#domain/invitations/targets.ts';
import { WrongSecret } from '#domain/shared/errors.ts';
import { AcceptInvitation } from './bodies.ts';
import { describeInvitation, InvitationView, viewInvitation } from './views.ts';

export const accept = command({
  id: 'invitations.accept',
  route: 'POST /api/v1/invitations/accept',
  summary: 'Accept an invitation to your e-mail address; its token is of no use to anybody else',
  body: AcceptInvitation,
  responses: { 200: InvitationView },
  access: { ...own, principals: ['user'] },
  target: async ({ em, body, lock }) => {
    const invitation = await findByToken(em, body.token, lock);
    if (!invitation) throw new WrongSecret('notFound', 'invitation was not found');
    const { organizationId, teamId } = invitation;
    return { organizationId, teamId, invitation };
  },
  targetName: 'invitation',
  resourceId: ({ target }) => target?.invitation.id,
  idempotency: 'none',
  audit: 'invitation.accepted',
  limitGuesses: ({ principal }) => principal.id,
  handle: async ({ tx, principal, target }) => {
    const accepted = await acceptInvitation(tx.em, principal, target.invitation);
    return { ...describeInvitation(accepted), answer: viewInvitation(accepted) };
  },
});
