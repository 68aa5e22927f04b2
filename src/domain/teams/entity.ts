import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, removedRevision, revision } from '#database/columns.ts';
import { Organization } from '#domain/organizations/entity.ts';

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
    removedMemberRevision: removedRevision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Team extends TeamSchema.class {}
TeamSchema.setClass(Team);
