import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import { Team } from '#domain/teams/entity.ts';
import type { TeamRole } from '#domain/teams/model.ts';

/**
 * An offer of membership to an e-mail address: in an organization, in one of its teams, or in both. It holds for the
 * generations that it was made against: what is archived, transferred or disabled meanwhile never revives it.
 */
export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  uniques: [
    {
      name: 'invitations_open_unique',
      expression:
        'create unique index "invitations_open_unique" on "invitations" ("organization_id", "team_id", "email_key") nulls not distinct where "accepted_at" is null and "revoked_at" is null',
    },
  ],
  indexes: [
    { name: 'invitations_organization_id_index', properties: ['organizationId', 'id'] },
    { name: 'invitations_team_id_index', properties: ['teamId', 'id'] },
    { name: 'invitations_invited_by_index', properties: ['invitedBy'] },
    { name: 'invitations_accepted_by_index', properties: ['acceptedBy'] },
  ],
  properties: {
    id: id(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
    email: p.string(),
    /** The address in the form that is compared. */
    emailKey: p.string(),
    /** What it makes of somebody who is not in the organization; null: it is for those who are. */
    role: p.string().$type<OrganizationRole>().nullable(),
    teamRole: p.string().$type<TeamRole>().nullable(),
    /** SHA-256 of the token: it is random, so a slow hash would add nothing. */
    verifier: p.blob().unique().hidden(),
    /** Retained: whoever invited or was taken in cannot be deleted, only disabled. */
    invitedBy: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('invited_by').deleteRule('restrict'),
    inviterGeneration: p.integer(),
    organizationGeneration: p.integer(),
    teamGeneration: p.integer().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    sentAt: at(),
    expiresAt: at(),
    acceptedAt: at().nullable(),
    acceptedBy: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('accepted_by').deleteRule('restrict').nullable(),
    revokedAt: at().nullable(),
  },
});
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
