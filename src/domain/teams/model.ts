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

/** The actions that each role allows in its team (access.md of the design, specification *Authorization model*). */
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
