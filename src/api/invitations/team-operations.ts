import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { reviewed, TeamParams, teamOf } from '#api/teams/operations.ts';
import type { Em } from '#database/database.ts';
import { inviteToTeam, resendInvitation, revokeInvitation } from '#domain/invitations/invitations.ts';
import { InviteToTeam } from '#domain/invitations/model.ts';
import { inviteToTeam as demanded } from '#domain/invitations/policy.ts';
import { findInvitationAt, listInvitations } from '#domain/invitations/targets.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { describeInvitation, InvitationView, SentInvitationView, sentChange, viewInvitation } from './views.ts';

const InvitationParams = TeamParams.extend({ invitationID: Id });

const createAccess: Access = { ...demanded, review: { ...reviewed, verb: 'manage_invitations' } };
const access: Access = { ...demanded, review: { inherits: 'team_invitations.create' } };

function findTarget(em: Em, { orgID, id, invitationID }: z.output<typeof InvitationParams>, lock = false) {
  return findInvitationAt(em, { organization: orgID, team: id, id: invitationID }, lock);
}

export const list = read({
  id: 'team_invitations.list',
  route: 'GET /api/v1/organizations/:orgID/teams/:id/invitations',
  summary: 'List the invitations into a team, open ones and those that are over',
  params: TeamParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('invitations', InvitationView) },
  access,
  target: ({ em, params }) => teamOf(em, params),
  targetName: 'team',
  handle: async ({ em, target, query }) => {
    const page = await listInvitations(em, target, query);
    return { invitations: page.items.map(viewInvitation), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'team_invitations.get',
  route: 'GET /api/v1/organizations/:orgID/teams/:id/invitations/:invitationID',
  summary: 'Read an invitation into a team',
  params: InvitationParams,
  responses: { 200: InvitationView },
  access,
  target: ({ em, params }) => findTarget(em, params),
  targetName: 'invitation',
  resource: 'invitations',
  handle: async ({ target }) => viewInvitation(target.invitation),
});

export const create = command({
  id: 'team_invitations.create',
  route: 'POST /api/v1/organizations/:orgID/teams/:id/invitations',
  summary: 'Invite somebody into a team; from an admin of the organization, into that as well',
  params: TeamParams,
  body: InviteToTeam,
  responses: { 201: SentInvitationView },
  at: get,
  access: createAccess,
  target: ({ em, params, lock }) => teamOf(em, params, lock),
  targetName: 'team',
  resource: 'invitations',
  idempotency: 'none',
  audit: 'invitation.created',
  handle: async ({ tx, principal, target, body }) => {
    const sent = await inviteToTeam(tx.em, principal, target, body);
    return sentChange(sent);
  },
  atParams: ({ id }, { target, params }) => ({ orgID: target.organizationId, id: params.id, invitationID: id }),
});

export const resend = command({
  id: 'team_invitations.resend',
  route: 'POST /api/v1/organizations/:orgID/teams/:id/invitations/:invitationID/resend',
  summary: 'Send an invitation again, in your name, with a new token; the one before is worth nothing any more',
  params: InvitationParams,
  responses: { 200: SentInvitationView },
  at: get,
  access,
  target: ({ em, params, lock }) => findTarget(em, params, lock),
  targetName: 'invitation',
  resource: 'invitations',
  idempotency: 'none',
  audit: 'invitation.resent',
  handle: async ({ tx, principal, target }) => {
    const sent = await resendInvitation(tx.em, principal, target, target.invitation);
    return sentChange(sent);
  },
  atParams: ({ id }, { target, params }) => ({ orgID: target.organizationId, id: params.id, invitationID: id }),
});

export const revoke = command({
  id: 'team_invitations.revoke',
  route: 'DELETE /api/v1/organizations/:orgID/teams/:id/invitations/:invitationID',
  summary: 'Revoke an invitation that nobody has accepted',
  params: InvitationParams,
  responses: { 204: Nothing },
  access,
  target: ({ em, params, lock }) => findTarget(em, params, lock),
  targetName: 'invitation',
  resource: 'invitations',
  idempotency: 'none',
  audit: 'invitation.revoked',
  handle: async ({ tx, principal, target }) => {
    await revokeInvitation(tx.em, principal, target.invitation);
    const { revision, ...change } = describeInvitation(target.invitation);
    return { ...change, revision: revision + 1 };
  },
});
