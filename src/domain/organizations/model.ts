import { z } from 'zod';

export const organizationRoles = ['owner', 'admin', 'member'] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

export const teamRoles = ['owner', 'admin', 'member', 'viewer'] as const;
export type TeamRole = (typeof teamRoles)[number];

export const teamActions = [
  'team.metadata.read',
  'team.metadata.write',
  'team.membership.manage',
  'team.invitation.manage',
  'team.owner.manage',
  'team.secret.read',
  'team.delete',
] as const;
export type TeamAction = (typeof teamActions)[number];

/** What each team role may do in its team (access.md of the design, specification *Authorization model*). */
export const teamRoleActions: Record<TeamRole, readonly TeamAction[]> = {
  owner: teamActions,
  admin: [
    'team.metadata.read',
    'team.metadata.write',
    'team.membership.manage',
    'team.invitation.manage',
    'team.secret.read',
  ],
  member: ['team.metadata.read', 'team.secret.read'],
  viewer: ['team.metadata.read'],
};

export const ResourceName = z.string().trim().min(1, { error: 'must not be empty' }).max(100);

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const Slug = z
  .string()
  .regex(slugPattern, { error: 'expected 1-63 lowercase letters, digits and inner hyphens, such as "core-network"' });

/** A slug made from a name: `Core Network` → `core-network`. Empty where the name has no letter or digit of it. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}

const Revision = z.int().min(1);

/** What an update may say of the revision that it was made for; a stale one conflicts. */
export const ExpectedRevision = { expected_revision: Revision.optional() };

export const CreateOrganization = z.strictObject({ name: ResourceName, slug: Slug.optional() });
export const UpdateOrganization = z.strictObject({
  name: ResourceName.optional(),
  slug: Slug.optional(),
  ...ExpectedRevision,
});

/** Teams are named as organizations are. */
export const CreateTeam = CreateOrganization;
export const UpdateTeam = UpdateOrganization;
