import { z } from 'zod';
import { OrganizationName } from '#api/organizations/operations.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { inviteToOrganization, resendInvitation, revokeInvitation } from '#domain/invitations/invitations.ts';
import { InviteToOrganization } from '#domain/invitations/model.ts';
import { inviteToOrganization as access } from '#domain/invitations/policy.ts';
import { findInvitationAt, listInvitations } from '#domain/invitations/targets.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { findTeam } from '#domain/teams/store.ts';
import { describeInvitation, InvitationView, SentInvitationView, sentChange, viewInvitation } from './views.ts';

const OrganizationParams = z.strictObject({ orgID: OrganizationName });
const InvitationParams = z.strictObject({ orgID: OrganizationName, id: Id });

function findTarget(em: Em, { orgID, id }: z.output<typeof InvitationParams>, lock = false) {
  return findInvitationAt(em, { organization: orgID, team: null, id }, lock);
}

export const list = read({
  id: 'organization_invitations.list',
  route: 'GET /api/v1/organizations/:orgID/invitations',
  summary: 'List the invitations into an organization and its teams, open ones and those that are over',
  params: OrganizationParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('invitations', InvitationView) },
  access,
  target: ({ em, params }) => findOrganization(em, params.orgID),
  targetName: 'organization',
  handle: async ({ em, target, query }) => {
    const page = await listInvitations(em, target, query);
    return { invitations: page.items.map(viewInvitation), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'organization_invitations.get',
  route: 'GET /api/v1/organizations/:orgID/invitations/:id',
  summary: 'Read an invitation into an organization or one of its teams',
  params: InvitationParams,
  responses: { 200: InvitationView },
  access,
  target: ({ em, params }) => findTarget(em, params),
  targetName: 'invitation',
  resource: 'invitations',
  handle: async ({ target }) => viewInvitation(target.invitation),
});

export const create = command({
  id: 'organization_invitations.create',
  route: 'POST /api/v1/organizations/:orgID/invitations',
  summary: 'Invite somebody into an organization and, if wanted, one of its teams; no role above your own',
  params: OrganizationParams,
  body: InviteToOrganization,
  responses: { 201: SentInvitationView },
  at: get,
  access,
  target: async ({ em, params, body, lock }) => {
    const organization = await findOrganization(em, params.orgID, lock);
    const id = body.team_id;
    const team = organization && id && (await findTeam(em, { organization: organization.id, id }, lock));
    return organization && { ...organization, team: team || null };
  },
  targetName: 'organization',
  resource: 'invitations',
  idempotency: 'none',
  audit: 'invitation.created',
  handle: async ({ tx, principal, target, body }) => {
    if (body.team_id && !target.team) throw new NotFound('team');
    const sent = await inviteToOrganization(tx.em, principal, target, target.team, body);
    return sentChange(sent);
  },
  atParams: ({ id }, { target }) => ({ orgID: target.organizationId, id }),
});

export const resend = command({
  id: 'organization_invitations.resend',
  route: 'POST /api/v1/organizations/:orgID/invitations/:id/resend',
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
  atParams: ({ id }, { target }) => ({ orgID: target.organizationId, id }),
});

export const revoke = command({
  id: 'organization_invitations.revoke',
  route: 'DELETE /api/v1/organizations/:orgID/invitations/:id',
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
