import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import type { OrganizationRole, TeamRole } from './model.ts';

export const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: id(),
    name: p.string(),
    slug: p.string(),
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);

/** Every slug that an organization has or had; a slug belongs to one organization until that is deleted. */
export const OrganizationSlugSchema = defineEntity({
  name: 'OrganizationSlug',
  tableName: 'organization_slugs',
  indexes: [{ name: 'organization_slugs_organization_id_index', properties: ['organizationId'] }],
  properties: {
    slug: p.string().primary(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    createdAt: createdAt(),
  },
});
export class OrganizationSlug extends OrganizationSlugSchema.class {}
OrganizationSlugSchema.setClass(OrganizationSlug);

/** The id is fresh at every join: what was granted to an earlier membership never revives. */
export const OrganizationMemberSchema = defineEntity({
  name: 'OrganizationMember',
  tableName: 'organization_members',
  uniques: [
    { name: 'organization_members_principal_organization_unique', properties: ['principalId', 'organizationId'] },
  ],
  indexes: [{ name: 'organization_members_organization_id_index', properties: ['organizationId'] }],
  properties: {
    id: id(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    principalId: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('principal_id').deleteRule('restrict'),
    role: p.string().$type<OrganizationRole>(),
    createdAt: createdAt(),
  },
});
export class OrganizationMember extends OrganizationMemberSchema.class {}
OrganizationMemberSchema.setClass(OrganizationMember);

export const TeamSchema = defineEntity({
  name: 'Team',
  tableName: 'teams',
  uniques: [
    {
      name: 'teams_organization_slug_unique',
      expression:
        'create unique index "teams_organization_slug_unique" on "teams" ("organization_id", "slug") where "deleted_at" is null',
    },
  ],
  properties: {
    id: id(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    name: p.string(),
    slug: p.string(),
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Team extends TeamSchema.class {}
TeamSchema.setClass(Team);

export const TeamMemberSchema = defineEntity({
  name: 'TeamMember',
  tableName: 'team_members',
  uniques: [{ name: 'team_members_principal_team_unique', properties: ['principalId', 'teamId'] }],
  indexes: [{ name: 'team_members_team_id_index', properties: ['teamId'] }],
  properties: {
    id: id(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    principalId: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('principal_id').deleteRule('restrict'),
    role: p.string().$type<TeamRole>(),
    createdAt: createdAt(),
  },
});
export class TeamMember extends TeamMemberSchema.class {}
TeamMemberSchema.setClass(TeamMember);

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
