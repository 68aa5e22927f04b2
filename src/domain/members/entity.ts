import { defineEntity, p } from '@mikro-orm/core';
import { createdAt, id, revision } from '#database/columns.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import type { OrganizationRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { Team } from '#domain/teams/entity.ts';

/** Every join creates a new id, so grants to an earlier membership never become valid again. */
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
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class OrganizationMember extends OrganizationMemberSchema.class {}
OrganizationMemberSchema.setClass(OrganizationMember);

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
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class TeamMember extends TeamMemberSchema.class {}
TeamMemberSchema.setClass(TeamMember);
