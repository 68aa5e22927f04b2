import type { Access } from '#domain/shared/access/decide.ts';

/**
 * Who may do what with plugins (specification, *Plugin authority*). None of these rights allows executing anything: only an assignment
 * does. Plugins have no access reviews.
 */

/** The right to read an installation, its declarations, and the assignments at a place that the caller may read. */
export const pluginReading = {
  anyOf: ['team:read', 'organization:read'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  organizationRole: 'member',
  hidden: 'not_found',
  review: 'none',
} as const satisfies Access;

/** The right to use lists over many places: a list contains only what its caller may read. */
export const pluginListing = {
  ...pluginReading,
  scope: 'platform',
  teamAction: undefined,
  organizationRole: undefined,
} as const satisfies Access;

/** The right to administer a place, which is that of managing its memberships. */
export const pluginAdministration = {
  ...pluginReading,
  anyOf: ['team:write', 'organization:write'],
  teamAction: 'team.membership.manage',
  organizationRole: 'admin',
} as const satisfies Access;

/** The right to replace a ceiling. */
export const ceilingAdministration = { ...pluginReading, anyOf: ['settings.manage'] } as const satisfies Access;

/**
 * The access for a question about a place: a caller whom an assignment in force covers there may ask without the right to read the place.
 */
export function accessIfCovered(access: Access, place: object): Access {
  return 'isCovered' in place && place.isCovered === true ? { ...access, scope: 'platform' } : access;
}
