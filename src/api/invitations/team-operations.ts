import { command } from '#api/pipeline/operation.ts';
import { accessReview, TeamParams, teamOf } from '#api/teams/operations.ts';
import { inviteToTeam } from '#domain/invitations/invitations.ts';
import { inviteToTeamAccess } from '#domain/invitations/policy.ts';
import { findInvitationAt } from '#domain/invitations/targets.ts';
import { Id } from '#domain/shared/ids.ts';
import { InviteToTeam, toTeamInvitation } from './bodies.ts';
import { invitationOperations } from './invitation-operations.ts';
import { SentInvitationView, sentChange } from './views.ts';

export const { list, get, resend, revoke } = invitationOperations({
  level: 'team',
  path: '/api/v1/organizations/:orgID/teams/:id/invitations',
  idParameter: 'invitationID',
  ownerParams: TeamParams,
  invitationParams: TeamParams.extend({ invitationID: Id }),
  summaries: {
    list: 'List all invitations into a team',
    get: 'Read an invitation into a team',
  },
  access: { ...inviteToTeamAccess, review: { inherits: 'team_invitations.create' } },
  findOwner: teamOf,
  find: (em, { orgID, id, invitationID }, lock) =>
    findInvitationAt(em, { organization: orgID, team: id, id: invitationID }, lock),
});

export const create = command({
  id: 'team_invitations.create',
  route: 'POST /api/v1/organizations/:orgID/teams/:id/invitations',
  summary: 'Invite a person into a team; if you are an admin of the organization, into the organization as well',
  params: TeamParams,
  body: InviteToTeam,
  responses: { 201: SentInvitationView },
  at: get,
  access: { ...inviteToTeamAccess, review: { ...accessReview, verb: 'manage_invitations' } },
  target: ({ em, params, lock }) => teamOf(em, params, lock),
  targetName: 'team',
  resource: 'invitations',
  idempotency: 'none',
  showsOnce: true,
  audit: 'invitation.created',
  handle: async ({ tx, principal, target, body, services }) => {
    const sent = await inviteToTeam(tx.em, principal, target, toTeamInvitation(body));
    return sentChange(tx.em, services, principal, sent);
  },
  atParams: ({ id }, { target, params }) => ({ orgID: target.organizationId, id: params.id, invitationID: id }),
});
