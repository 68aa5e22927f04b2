import { defineEntity, p } from '@mikro-orm/core';
import { Principal } from '#domain/identity/entity.ts';
import { at, createdAt, id, revision } from '#domain/shared/columns.ts';
import type { OrganizationRole, TeamRole } from './model.ts';

const OrganizationSchema = defineEntity({
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
const OrganizationSlugSchema = defineEntity({
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
const OrganizationMemberSchema = defineEntity({
  name: 'OrganizationMember',
  tableName: 'organization_members',
  uniques: [
    { name: 'organization_members_principal_organization_unique', properties: ['principalId', 'organizationId'] },
  ],
  indexes: [{ name: 'organization_members_organization_id_index', properties: ['organizationId'] }],
  properties: {
    id: id(),
    organizationId: () => p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict'),
    principalId: () => p.manyToOne(Principal).mapToPk().fieldName('principal_id').deleteRule('restrict'),
    role: p.string().$type<OrganizationRole>(),
    createdAt: createdAt(),
  },
});
export class OrganizationMember extends OrganizationMemberSchema.class {}
OrganizationMemberSchema.setClass(OrganizationMember);

const TeamSchema = defineEntity({
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

const TeamMemberSchema = defineEntity({
  name: 'TeamMember',
  tableName: 'team_members',
  uniques: [{ name: 'team_members_principal_team_unique', properties: ['principalId', 'teamId'] }],
  indexes: [{ name: 'team_members_team_id_index', properties: ['teamId'] }],
  properties: {
    id: id(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    principalId: () => p.manyToOne(Principal).mapToPk().fieldName('principal_id').deleteRule('restrict'),
    role: p.string().$type<TeamRole>(),
    createdAt: createdAt(),
  },
});
export class TeamMember extends TeamMemberSchema.class {}
TeamMemberSchema.setClass(TeamMember);
