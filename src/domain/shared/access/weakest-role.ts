import { platformRoles, teamRoleActions, teamRoles } from '../vocabulary/roles.ts';
import { rolePermissions } from './permissions.ts';

/**
 * The weakest role that has a permission or an action of a team, in words; undefined if none has it. It is for messages that name the role
 * to request. No decision depends on it.
 */
export function describeWeakestRole(needed: string): string | undefined {
  const platform = platformRoles.find((role) => [...rolePermissions[role]].some((each) => each === needed));
  if (platform) return `the platform role ${platform}`;
  const team = teamRoles.findLast((role) => teamRoleActions[role].some((each) => each === needed));
  return team && `the team role ${team}`;
}

/** A permission or a team action for the message of a denial, followed by the weakest role that has it. */
export function withRole(needed: string): string {
  const role = describeWeakestRole(needed);
  return role === undefined ? needed : `${needed} (${role})`;
}
