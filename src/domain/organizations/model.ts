import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

export const organizationRoles = ['owner', 'admin', 'member'] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

export const CreateOrganization = z.strictObject({ name: ResourceName, slug: Slug.optional() });
export const UpdateOrganization = z.strictObject({
  name: ResourceName.optional(),
  slug: Slug.optional(),
  ...ExpectedRevision,
});

export const TransferOrganization = z.strictObject({ new_owner_user_id: Id, ...ExpectedRevision });
