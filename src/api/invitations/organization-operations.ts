import { z } from 'zod';
import { OrganizationName, OrganizationParams } from '#api/organizations/operations.ts';
import { command } from '#api/pipeline/operation.ts';
import { inviteToOrganization } from '#domain/invitations/invitations.ts';
import { inviteToOrganizationAccess as access } from '#domain/invitations/policy.ts';
import { findInvitationAt } from '#domain/invitations/targets.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { findTeam } from '#domain/teams/store.ts';
import { InviteToOrganization, toOrganizationInvitation } from './bodies.ts';
import { invitationOperations } from './invitation-operations.ts';
import { SentInvitationView, sentChange } from './views.ts';

export const { list, get, resend, revoke } = invitationOperations({
  level: 'organization',
  path: '/api/v1/organizations/:orgID/invitations',
  idParameter: 'id',
  ownerParams: OrganizationParams,
  invitationParams: z.strictObject({ orgID: OrganizationName, id: Id }),
  summaries: {
    list: 'List all invitations into an organization and its teams',
    get: 'Read an invitation into an organization or one of its teams',
  },
  access,
  findOwner: (em, { orgID }) => findOrganization(em, orgID),
  find: (em, { orgID, id }, lock) => findInvitationAt(em, { organization: orgID, team: null, id }, lock),
});

export const create = command({
  id: 'organization_invitations.create',
  route: 'POST /api/v1/organizations/:orgID/invitations',
  summary:
    'Invite a person into an organization and, if you like, one of its teams; you can offer no role above your own',
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
  showsOnce: true,
  audit: 'invitation.created',
  handle: async ({ tx, principal, target, body, services }) => {
    if (body.team_id && !target.team) throw new HiddenResource('team');
    const sent = await inviteToOrganization(tx.em, principal, target, target.team, toOrganizationInvitation(body));
    return sentChange(tx.em, services, principal, sent);
  },
  atParams: ({ id }, { target }) => ({ orgID: target.organizationId, id }),
});
