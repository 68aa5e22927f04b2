import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, removedRevision, revision } from '#database/columns.ts';

export const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: id(),
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
export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);

/** Every slug that an organization has or had. A slug belongs to one organization until the organization is deleted. */
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
