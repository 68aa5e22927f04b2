import { z } from 'zod';
import { Email } from '#domain/identity/model.ts';
import { durationBetween } from '#domain/shared/durations.ts';
import { Id } from '#domain/shared/ids.ts';

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

export const TransferOrganization = z.strictObject({ new_owner_user_id: Id, ...ExpectedRevision });
export const TransferTeam = z.strictObject({ organization_id: Id, ...ExpectedRevision });

const hour = 60 * 60;
export const defaultInvitationLifetime = 'P7D';
const InvitationLifetime = durationBetween(hour, 30 * 24 * hour)
  .optional()
  .describe(`How long it may be accepted; ${defaultInvitationLifetime} unless it says otherwise.`);

export const InviteToOrganization = z
  .strictObject({
    email: Email,
    role: z.enum(organizationRoles).default('member'),
    team_id: Id.optional(),
    team_role: z.enum(teamRoles).optional().describe('In the team of `team_id`; a member unless it says otherwise.'),
    expires_in: InvitationLifetime,
  })
  .refine(({ team_id: teamId, team_role: teamRole }) => teamId !== undefined || teamRole === undefined, {
    path: ['team_role'],
    error: 'is a role in a team: give its team_id as well',
  });

export const InviteToTeam = z.strictObject({
  email: Email,
  role: z.enum(teamRoles).default('member'),
  expires_in: InvitationLifetime,
});

export const AcceptInvitation = z.strictObject({ token: z.string().min(1).max(200).meta({ writeOnly: true }) });
