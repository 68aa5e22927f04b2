import { z } from 'zod';

/** The kinds of principals, and the roles that they have in the installation, in organizations and in teams. Pure. (docs/access.md) */

/** The platform roles, weakest first. A principal can grant roles up to its own. */
export const platformRoles = ['requester', 'maintainer', 'operator', 'admin'] as const;
export type PlatformRole = (typeof platformRoles)[number];
export const PlatformRole = z.enum(platformRoles);

/** Whether `role` is stronger than `other`. */
export function isRoleAbove(role: PlatformRole, other: PlatformRole): boolean {
  return platformRoles.indexOf(role) > platformRoles.indexOf(other);
}

export const principalKinds = ['user', 'service_account', 'background', 'system'] as const;
export type PrincipalKind = (typeof principalKinds)[number];

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

/** The actions that each role allows in its team (specification, *Team roles and actions*; docs/access.md, *Team roles*). */
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

/**
 * The role of a service account in a team: the team that owns it, or any team that a user's account is a member of. The owner's
 * role there does not matter. (specification, *Authentication*, rule 7)
 */
export const teamRoleOfAccount: Record<PlatformRole, TeamRole> = {
  admin: 'owner',
  operator: 'admin',
  maintainer: 'admin',
  requester: 'member',
};
